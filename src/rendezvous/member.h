/* The agent's half of a rendezvous (rendezvous/rendezvous.h): what one member of an elastic job
 * does. Pure; time is a parameter, by the monotonic clock.
 *
 * The agent reports its whole state to the server whenever that has
 * changed, and again after every answer. The server holds a call until there is a new order, or for
 * `hold`. So a call is also the heartbeat. News are a second call, while the first one is held: to
 * take that back would end its connection, and another one may take seconds to stand. The server
 * answers the first call when it has the second.
 *
 * While the server cannot be reached the workers keep running, so that a restart of the server goes
 * unnoticed. After `isolation_time` they are stopped anyway: the others may have formed a world
 * without this member, and two worlds must not write the same checkpoints. */
#pragma once

#include "base/instant.h"
#include "rendezvous/rendezvous.h"

#include <stdbool.h>
#include <stdint.h>

/* The messages between an elastic agent and its server. There is one kind of call, in which both
 * sides send their whole state. So calls and answers may be lost, late or duplicated. */

enum member_activity {
	MEMBER_IDLE, /* no workers, or only workers that were asked to stop */
	MEMBER_AT_WORK,
	MEMBER_HAS_FAILED, /* a worker of its generation failed */
	MEMBER_HAS_SUCCEEDED, /* all its workers succeeded */
	MEMBER_WANTS_RESTART, /* a worker asks for it, and has saved */
	MEMBER_ACTIVITY_COUNT,
};
extern const char *const member_activity_words[MEMBER_ACTIVITY_COUNT];

struct member_report {
	int64_t call; /* number of the call, in the order in which they are sent; 0: unknown */
	const char *key; /* as in RENDEZVOUS_JOIN */
	int node_rank; /* as in RENDEZVOUS_JOIN */
	int64_t generation; /* of its last workers; 0: none yet */
	enum member_activity activity;
	bool drains; /* the member wants to leave */
	bool has_left; /* the member's last call */
	int64_t failure; /* generation of the failure sent along; 0: none. Not in its JSON */
	bool is_cause; /* for HAS_FAILED, as in RENDEZVOUS_FAIL. Not in its JSON */
	int64_t progress; /* highest step that its workers reached, in any generation; 0: unknown. A
			     change alone triggers no call */
	int64_t newest; /* generation of the newest world that it was ordered to run; 0: none. In
			   the JSON it is "world" */
	int last_rank; /* in that world; -1: unknown. In the JSON it is "rank" */
	struct member_order known; /* its present order: a different one is answered immediately */
};

bool member_report_equals(const struct member_report *a, const struct member_report *b);

/* The server's side: applies a call. Returns ERR_REFUSED, ERR_LIMIT and ERR_INVALID as in
 * RENDEZVOUS_JOIN; ERR_LIMIT also if a later call of the member came first: otherwise the answer to
 * an earlier call could be newer than that to a later one. Parts about another generation are
 * ignored. `offer` is as in RENDEZVOUS_JOIN. */
int member_call_apply(struct rendezvous *rendezvous, const char *id,
		      const struct member_report *report, const char *offer, instant now,
		      struct err *err);

/* The agent. */

/* Whether a worker that exits with this code has saved and asks for a restart. 42 and 143 are those
 * of TensorFlow's PreemptionCheckpointHandler (tensorflow/python/distribute/failure_handling). As
 * in a shell, a script also exits with 143 after it has saved because of a SIGTERM. */
bool member_code_asks_restart(int exit_code);

struct member_settings {
	msec hold; /* how long the server holds a call */
	msec answer_time; /* additional time for an answer before the call counts as lost */
	msec isolation_time; /* how long workers run after the last answer */
	msec patience; /* how long a member without workers waits for an unreachable server */
	msec first_patience; /* the same before the first answer */
	msec drain_time; /* for the server's answer to a drain; then the member leaves without it */
};

enum member_end {
	MEMBER_GOES_ON,
	MEMBER_ENDED, /* the server ordered it to go; see its order */
	MEMBER_GAVE_UP, /* the server could not be reached */
};

#define MEMBER_CALLS 2

struct member_outgoing {
	bool is_open; /* not answered yet */
	int64_t number; /* in the order in which they were sent; 0: it was lost */
	struct member_report told;
	instant ends; /* then it counts as lost */
};

struct member {
	struct member_settings settings;
	struct member_report report; /* the report to send; `known` is the last order */
	bool has_workers;
	struct member_outgoing calls[MEMBER_CALLS];
	int64_t n_calls; /* number of the last one sent */
	int64_t n_answered; /* number of the last one whose answer counted */
	instant next_at; /* earliest time of the next call */
	instant heard_at; /* the last answer; or the beginning, or the end of its workers */
	instant goes_at; /* when it leaves although its drain was not answered; INSTANT_NEVER */
	int n_lost; /* lost calls in a row */
	enum member_end end;
};

void member_begin(struct member *member, const struct member_settings *settings, instant now);

/* The generation whose workers should run; 0: none. Stop the workers of any other generation before
 * you start new ones. */
int64_t member_wants(const struct member *member);
/* Whether workers that are to be stopped may save first, because none has failed. */
bool member_may_save(const struct member *member);

/* Report what happened to the workers. */
void member_started(struct member *member, int64_t generation, instant now);
void member_failed(struct member *member); /* one failed; others may still be running */
/* A worker has exited with such a code. */
void member_wants_restart(struct member *member);
void member_explained(struct member *member); /* why its generation failed is known */
void member_progressed(struct member *member, int64_t step); /* a worker has reached this step */
void member_ended(struct member *member, bool have_succeeded, instant now); /* no worker is left */

/* The member is asked to leave, by a signal or by a notice that its machine will shut down. */
void member_drain(struct member *member, instant now);

/* Whether a call is due. Its content is `report`. */
bool member_is_call_due(const struct member *member, instant now);
/* Returns the place of the call, of MEMBER_CALLS, which the next three take. They ignore a call
 * that is not open. */
size_t member_called(struct member *member, instant now);
void member_answered(struct member *member, size_t place, const struct member_order *order,
		     instant now);
/* Whether a later call was answered before: the answer to this one is of the past. */
bool member_is_answer_late(const struct member *member, size_t place);
/* No answer, or a malformed one. */
void member_lost_call(struct member *member, size_t place, instant now);
/* The server rejects the member permanently: it stops its workers and leaves. */
void member_refused(struct member *member, size_t place, instant now);

/* Call it at member_wake_at. A call that takes too long counts as lost. */
void member_time(struct member *member, instant now);
instant member_wake_at(const struct member *member);

/* The agent's half of a rendezvous (rendezvous/rendezvous.h): what one member of an elastic job
 * does. Pure; time is a parameter, by the monotonic clock.
 *
 * The agent reports its whole state to the server (rendezvous/member_call.h) whenever that has
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
#include "base/own.h"
#include "rendezvous/member_call.h"

#include <stdbool.h>
#include <stdint.h>

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

/* The server's half of a rendezvous: which agents form the world of an elastic job. Pure; time is a
 * parameter, by the monotonic clock.
 *
 * Agents (members) may join and leave at any time. The server alone decides on a world. As soon as
 * MIN members have joined, it waits for a last call, or for MAX, and forms it. A later member is
 * taken into the next world, after a last call during which the present world continues. When a
 * member of the world is lost, leaves, or reports a failed worker, the next world is formed
 * immediately of the remaining members. With fewer than MIN nothing trains, and after `join_time`
 * the job is closed. Members beyond MAX are spares.
 *
 * A member whose workers failed first in too many worlds is excluded: it takes part only if the
 * others are fewer than MIN.
 *
 * Ranks follow the order of arrival, unless a user assigned them. They are dense. A remaining
 * member keeps its rank or gets a lower one, and rank 0, which writes the checkpoints, is the
 * oldest member.
 *
 * Each world has a generation, which rejects late reports: a report about another generation
 * changes nothing. A member's order is state, not a message (rendezvous_view), so a lost answer
 * loses nothing.
 *
 * The behavior is that of torchrun's dynamic rendezvous (torch/distributed/elastic/rendezvous),
 * except for fixes that its users requested: a death leads to a new world, spares step in, an early
 * finisher is no failure, and the last call costs no training. */
#pragma once

#include "base/err.h"
#include "base/instant.h"
#include "base/mem.h"
#include "base/own.h"
#include "rendezvous/restart_budget.h"
#include "rendezvous/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rendezvous_settings {
	int min, max; /* members of a world; 1 <= min <= max <= LIMIT_MEMBERS */
	int unit; /* a world has a multiple of this size; at least 1 */
	msec join_time; /* how long to wait with fewer than MIN members */
	msec last_call; /* how long to wait for more once MIN have joined */
	msec lease; /* a member that is silent, or does not acknowledge its order, for this long is
		       lost */
	struct restart_terms restarts; /* after failed workers, for all members together */
	/* A member with an attachment (rendezvous_attachment) is removed, because it has left or is
	 * lost. NULL: there are none. */
	void (*on_removed)(void *attachment, bool is_lost);
};

enum rendezvous_phase {
	RENDEZVOUS_WAITING, /* for MIN members: nothing trains */
	RENDEZVOUS_GATHERING, /* the last call: before the first world, or while one continues */
	RENDEZVOUS_PAUSING, /* a restart waits for its delay */
	RENDEZVOUS_RUNNING,
	RENDEZVOUS_CLOSED, /* forever */
	RENDEZVOUS_PHASE_COUNT,
};
extern const char *const rendezvous_phase_words[RENDEZVOUS_PHASE_COUNT];

enum rendezvous_verdict {
	RENDEZVOUS_OPEN,
	RENDEZVOUS_SUCCEEDED,
	RENDEZVOUS_FAILED, /* no restart was left */
	RENDEZVOUS_NO_PROGRESS, /* it failed too often without progress between the failures */
	RENDEZVOUS_TIMED_OUT, /* fewer than MIN members for too long */
	RENDEZVOUS_STOPPED, /* a user stopped it, or the last member left */
	RENDEZVOUS_VERDICT_COUNT,
};
extern const char *const rendezvous_verdict_words[RENDEZVOUS_VERDICT_COUNT];

enum rendezvous_event_type {
	RENDEZVOUS_JOIN, /* a member joins, or rejoins; its offer counts from the next world on */
	RENDEZVOUS_BEAT, /* a heartbeat */
	RENDEZVOUS_LOST, /* its agent no longer exists */
	RENDEZVOUS_FAIL, /* of `generation`: one of its workers failed */
	RENDEZVOUS_DONE, /* of `generation`: all its workers succeeded */
	RENDEZVOUS_RESTART, /* of `generation`: one of its workers asks for it, and has saved. Not
			       charged, unless such restarts follow one another */
	RENDEZVOUS_DRAIN, /* it will leave: the others continue without it */
	RENDEZVOUS_LEAVE, /* it has left */
	RENDEZVOUS_STOP, /* the job should end; no member */
	RENDEZVOUS_TIME, /* rendezvous_wake_at has come; no member */
};

struct rendezvous_event {
	enum rendezvous_event_type type;
	const char *id; /* of the member: created by its agent, never reused */
	int64_t generation; /* for FAIL, DONE and RESTART */
	bool is_cause; /* for FAIL: no failure on another machine explains it */
	const char *offer; /* for JOIN */
	int64_t progress; /* for JOIN: the highest step that its workers reached */
	int64_t newest; /* for JOIN: generation of the newest world that it knows; 0: none */
	int last_rank; /* for JOIN: its rank in that world; -1: unknown */
	const char *key; /* for JOIN: the secret of its agent, which no later call may lack; NULL:
			    none */
	int64_t call; /* for JOIN: number of the member's call; 0: unknown */
	int node_rank; /* for JOIN: the wanted rank; equal for all members: order of arrival */
	bool has_acknowledged; /* for JOIN and BEAT: it has the order of its rendezvous_view */
};

/* The order for a member. */
enum rendezvous_order {
	RENDEZVOUS_WAIT, /* stop its workers and wait */
	RENDEZVOUS_RUN, /* run the workers of this world only */
	RENDEZVOUS_GO, /* stop its workers and leave: the job is closed, or the member drains */
	RENDEZVOUS_ORDER_COUNT,
};
extern const char *const rendezvous_order_words[RENDEZVOUS_ORDER_COUNT]; /* "wait" … */

struct rendezvous_view {
	enum rendezvous_order order;
	const struct world *world; /* for RUN; borrowed until the next step */
	int rank; /* for RUN; else -1 */
	bool is_excluded; /* for WAIT: the others train without it */
	enum world_reason reason; /* for RUN and WAIT: why the previous world ended */
	bool is_last; /* for WAIT: no restart is left; the job ends unless a lost member was the
			 cause */
	enum rendezvous_verdict verdict; /* for GO; OPEN for a draining member */
	const char *offer; /* of the member, for the next world; borrowed likewise */
};

struct rendezvous;

struct rendezvous *rendezvous_new(const struct rendezvous_settings *settings, instant now) MUST_USE;
void rendezvous_free(struct rendezvous *rendezvous); /* NULL is fine */

/* Handles an event; afterward the order of any member may differ. Returns ERR_NOT_FOUND if the
 * member has to join first; ERR_CONFLICT if the event is of another generation and was ignored;
 * ERR_REFUSED if a member joins after the end; ERR_LIMIT if there are LIMIT_MEMBERS or
 * LIMIT_REPLICAS processes, or a later call came first; ERR_INVALID if it knows a generation that
 * no lost record explains. */
int rendezvous_step(struct rendezvous *rendezvous, const struct rendezvous_event *event,
		    instant now, struct err *err);

/* The state that must outlive the server: store it before a member gets an order of a world.
 * Members in no world are omitted, since they rejoin by themselves. */
struct rendezvous_snapshot {
	struct world world; /* the last one; generation 0: none */
	bool *are_there; /* by rank: whether it is still a member */
	bool goes_on; /* the world continues */
	struct restart_budget budget; /* with ages (restart_budget_move) */
	int n_restarts;
	struct world_member *excluded; /* excluded members */
	size_t n_excluded;
	enum world_reason reason; /* of the next world */
	enum rendezvous_verdict verdict;
};
/* The members are borrowed until the next step. */
void rendezvous_take_snapshot(const struct rendezvous *rendezvous, instant now, struct arena *arena,
			      struct rendezvous_snapshot *ret_snapshot);
/* Each remaining member of the world gets a new lease; a closed world has none. No world is formed
 * before each was heard of or is lost, because `past` may be older than what they know, after a
 * failed write or from a backup. In that case the next world's generation is above theirs. */
struct rendezvous *rendezvous_restore(const struct rendezvous_settings *settings,
				      const struct rendezvous_snapshot *snapshot,
				      instant now) MUST_USE;

/* Whether a call comes from the agent of this member: ERR_EXISTS if the member has another key.
 * An agent that is not a member yet, or has no key, is anybody. */
int rendezvous_check_key(const struct rendezvous *rendezvous, const char *id, const char *key,
			 struct err *err) MUST_USE;

/* When RENDEZVOUS_TIME is due; INSTANT_NEVER. */
instant rendezvous_wake_at(const struct rendezvous *rendezvous);

/* Returns ERR_NOT_FOUND if the id is not or no longer a member. */
int rendezvous_view(const struct rendezvous *rendezvous, const char *id,
		    struct rendezvous_view *ret_view, struct err *err);
/* What the caller has attached to this member, NULL at first; valid until the next step. NULL: it
 * is no member. */
void **rendezvous_attachment(const struct rendezvous *rendezvous, const char *id);
/* The id of a member, by its place among rendezvous_count; valid until the next step. */
const char *rendezvous_member_id(const struct rendezvous *rendezvous, size_t place);
/* Increases with each change of any member's order. */
int64_t rendezvous_version(const struct rendezvous *rendezvous);

enum rendezvous_phase rendezvous_phase(const struct rendezvous *rendezvous);
enum rendezvous_verdict rendezvous_verdict(const struct rendezvous *rendezvous);
/* The last world that was formed, even if it has ended. */
const struct world *rendezvous_world(const struct rendezvous *rendezvous);
size_t rendezvous_count(const struct rendezvous *rendezvous); /* members, including spares */
/* The number of members available for the next world. */
size_t rendezvous_count_candidates(const struct rendezvous *rendezvous);
int rendezvous_restarts(const struct rendezvous *rendezvous);
int64_t rendezvous_progress(const struct rendezvous *rendezvous); /* 0: no step was reported */

/* A member may know a generation this far above the one that the server began with: an older record
 * lacks no more. */
#define RENDEZVOUS_LOST_WORLDS 1000
/* The same for a server without any record: a world per second for eleven days. */
#define RENDEZVOUS_LOST_RECORD 1000000

/* A member is excluded if its workers failed first in this many worlds within this time. */
#define RENDEZVOUS_MACHINE_FAILURES 3
#define RENDEZVOUS_MACHINE_WINDOW (3600LL * MSEC_PER_SECOND)

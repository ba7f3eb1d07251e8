/* Which agents make up the world of an elastic job: the server's half of a rendezvous. Pure; the
 * time is handed in, of a clock that never jumps.
 *
 * Agents (members) come and go at any time. The server alone agrees upon a world: as soon as MIN
 * members are there, it waits for a last call, or for MAX, and forms it. A member that comes later
 * is taken in by the next world, after a last call during which the present one goes on. When a
 * member of the world is lost, leaves, or reports that a worker has failed, the next world is
 * formed at once of those that are there; with fewer than MIN nothing trains, and after `join_time`
 * the job is closed. Members beyond MAX are spares: they step in.
 *
 * A member whose workers were the first to fail in too many worlds is set aside: it takes part only
 * where the others are fewer than MIN.
 *
 * Ranks are in the order in which members came, unless a person gave each its place. They are
 * dense, a member that stays keeps its rank or gets a lower one, and rank 0, which writes the
 * checkpoints, is the one that is there for longest.
 *
 * Each world has a generation, which fences all that is late: what is reported of another one
 * changes nothing. What a member has to do is a matter of state and not of messages
 * (rendezvous_view), so nothing is lost when an answer is.
 *
 * The habits are those of torchrun's dynamic rendezvous (torch/distributed/elastic/rendezvous) but
 * for what users asked to be mended there: a death is answered by a new world, spares step in, an
 * early finisher is not taken for a failure, and the last call costs no training. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "rendezvous/restart_budget.h"
#include "rendezvous/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rendezvous_settings {
	int min, max; /* members of a world; 1 <= min <= max <= LIMIT_MEMBERS */
	int unit; /* a world has a multiple of so many; at least 1 */
	msec join_time; /* how long fewer than MIN are waited for */
	msec last_call; /* how long more are waited for once MIN are there */
	msec lease; /* a member is lost that is silent for so long, or does not hear its order */
	msec reconnect_time; /* the same for one whose connection has ended; less than the lease */
	struct restart_terms restarts; /* after workers that failed, of all members together */
};

enum rendezvous_phase {
	RENDEZVOUS_WAITING, /* for MIN: nothing trains */
	RENDEZVOUS_GATHERING, /* the last call: no world yet, or the present one goes on */
	RENDEZVOUS_PAUSING, /* a restart waits for its delay */
	RENDEZVOUS_RUNNING,
	RENDEZVOUS_CLOSED, /* for ever */
	RENDEZVOUS_PHASE_COUNT,
};
extern const char *const rendezvous_phase_words[RENDEZVOUS_PHASE_COUNT];

enum rendezvous_verdict {
	RENDEZVOUS_OPEN,
	RENDEZVOUS_SUCCEEDED,
	RENDEZVOUS_FAILED, /* no restart was left */
	RENDEZVOUS_NO_PROGRESS, /* it failed too often without progress in between */
	RENDEZVOUS_TIMED_OUT, /* fewer than MIN were there for too long */
	RENDEZVOUS_STOPPED, /* somebody asked for it, or the last member has left */
	RENDEZVOUS_VERDICT_COUNT,
};
extern const char *const rendezvous_verdict_words[RENDEZVOUS_VERDICT_COUNT];

enum rendezvous_event_type {
	RENDEZVOUS_JOIN, /* a member comes, or comes back; its offer counts from the next world on
			  */
	RENDEZVOUS_BEAT, /* a sign of life */
	RENDEZVOUS_CUT, /* its connection has ended */
	RENDEZVOUS_FAIL, /* of `generation`: one of its workers has failed */
	RENDEZVOUS_DONE, /* of `generation`: all its workers have succeeded */
	RENDEZVOUS_RESTART, /* of `generation`: one of its workers asks for it, and has saved. Not
			       charged, unless such restarts come one after the other */
	RENDEZVOUS_DRAIN, /* it is going to leave: the others go on without it */
	RENDEZVOUS_LEAVE, /* it has left */
	RENDEZVOUS_STOP, /* the job is to end; no member */
	RENDEZVOUS_TIME, /* it is rendezvous_wake_at; no member */
};

struct rendezvous_event {
	enum rendezvous_event_type type;
	const char *id; /* of the member: made by its agent, never used again */
	int64_t generation; /* of FAIL, DONE and RESTART */
	bool is_cause; /* of FAIL: no failure on another machine explains it */
	const char *offer; /* of JOIN */
	int64_t progress; /* of JOIN: the highest step that its workers have reached */
	int64_t newest; /* of JOIN: generation of the worlds that it has heard of; 0: none */
	int node_rank; /* of JOIN: where a person wants it; the same of all: they come as they come
			*/
	bool has_acknowledged; /* of JOIN and BEAT: what rendezvous_view says of it */
};

/* What a member has to do. */
enum rendezvous_order {
	RENDEZVOUS_WAIT, /* end the workers that it has, and wait */
	RENDEZVOUS_RUN, /* run the workers of this world, and no others */
	RENDEZVOUS_GO, /* end the workers that it has, and go: the job is closed, or it drains */
	RENDEZVOUS_ORDER_COUNT,
};
extern const char *const rendezvous_order_words[RENDEZVOUS_ORDER_COUNT]; /* "wait" … */

struct rendezvous_view {
	enum rendezvous_order order;
	const struct world *world; /* of RUN; borrowed until the next step */
	int rank; /* of RUN; -1 otherwise */
	bool is_excluded; /* of WAIT: the others train without it */
	enum world_reason reason; /* of RUN and WAIT: why the world before is over */
	bool is_last; /* of WAIT: no restart is left, and the job ends unless a lost member was the
			 cause of the failure */
	enum rendezvous_verdict verdict; /* of GO; OPEN for one that drains */
	const char *offer; /* of the member, for the next world; borrowed as well */
};

struct rendezvous;

struct rendezvous *rendezvous_new(const struct rendezvous_settings *settings, msec now) MUST_USE;
void rendezvous_free(struct rendezvous *rendezvous); /* NULL is fine */

/* Takes an event; afterwards what any member has to do may be another thing. ERR_NOT_FOUND: no such
 * member, which has to join; ERR_CONFLICT: of another generation, and passed over; ERR_REFUSED: a
 * member comes after the end; ERR_LIMIT: there are LIMIT_MEMBERS. */
int rendezvous_step(struct rendezvous *rendezvous, const struct rendezvous_event *event, msec now,
		    struct err *err);

/* What has to outlive the server: what a member is told of a world has to be kept before. Members
 * that are in no world are not among it, since they come again by themselves. */
struct rendezvous_snapshot {
	struct world world; /* the last one; generation 0: there was none */
	bool *are_there; /* by rank: it is a member still */
	bool goes_on; /* the world does */
	struct restart_budget_snapshot budget;
	int n_restarts;
	struct world_member *aside; /* members that were set aside */
	size_t n_excluded;
	enum world_reason reason; /* of the next world */
	enum rendezvous_verdict verdict;
};
/* The members are borrowed until the next step. */
void rendezvous_take_snapshot(const struct rendezvous *rendezvous, msec now, struct arena *arena,
			      struct rendezvous_snapshot *ret_snapshot);
/* Each member of the world that is there has a lease from now on; one that is closed has none. No
 * world is formed before each was heard of or is lost: what is handed in may be older than what
 * they know, after a write that failed or of a backup. Then the next world's generation is above
 * theirs.
 */
struct rendezvous *rendezvous_restore(const struct rendezvous_settings *settings,
				      const struct rendezvous_snapshot *past, msec now) MUST_USE;

/* When RENDEZVOUS_TIME is due; MSEC_NEVER. */
msec rendezvous_wake_at(const struct rendezvous *rendezvous);

/* ERR_NOT_FOUND for one that is no member (any more). */
int rendezvous_view(const struct rendezvous *rendezvous, const char *id,
		    struct rendezvous_view *ret_view, struct err *err);
/* Goes up with each change of what any member has to do. */
int64_t rendezvous_version(const struct rendezvous *rendezvous);

enum rendezvous_phase rendezvous_phase(const struct rendezvous *rendezvous);
enum rendezvous_verdict rendezvous_verdict(const struct rendezvous *rendezvous);
/* The last world that was agreed upon, also when it is over. */
const struct world *rendezvous_world(const struct rendezvous *rendezvous);
size_t rendezvous_count(const struct rendezvous *rendezvous); /* members, spares too */
/* Those that a next world may be formed of. */
size_t rendezvous_count_candidates(const struct rendezvous *rendezvous);
int rendezvous_restarts(const struct rendezvous *rendezvous);
int64_t rendezvous_progress(const struct rendezvous *rendezvous); /* 0: no step was reported */

/* A member is set aside whose workers were the first to fail in so many worlds, within this time.
 */
#define RENDEZVOUS_MACHINE_FAILURES 3
#define RENDEZVOUS_MACHINE_WINDOW (3600LL * MSEC_PER_SECOND)

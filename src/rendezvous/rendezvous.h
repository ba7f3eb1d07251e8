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
 * changes nothing. A member's order is state, not a message, so a lost answer loses nothing.
 *
 * The behavior is that of torchrun's dynamic rendezvous (torch/distributed/elastic/rendezvous),
 * except for fixes that its users requested: a death leads to a new world, spares step in, an early
 * finisher is no failure, and the last call costs no training. */
#pragma once

#include "base/err.h"
#include "base/instant.h"
#include "base/mem.h"
#include "rendezvous/restart_budget.h"
#include "rendezvous/world.h"

/* The terms that all members of a job must agree on. */
struct member_terms {
	int min, max; /* members of a world; 1 <= min <= max <= LIMIT_MEMBERS */
	int unit; /* a world has a multiple of this size; at least 1 */
	msec join_time; /* how long to wait with fewer than MIN members */
	msec last_call; /* how long to wait for more once MIN have joined */
	struct restart_terms restarts; /* after failed workers, for all members together */
};

struct rendezvous_settings {
	struct member_terms terms;
	msec lease; /* a member that is silent, or ignores its order, so long is lost */
	/* A member with an attachment is removed, because it has left or is
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
	RENDEZVOUS_STOPPED, /* the last member left */
	RENDEZVOUS_VERDICT_COUNT,
};
extern const char *const rendezvous_verdict_words[RENDEZVOUS_VERDICT_COUNT];

enum rendezvous_event_type {
	RENDEZVOUS_JOIN, /* a member joins, or calls; its offer counts from the next world on */
	RENDEZVOUS_LOST, /* its agent no longer exists */
	RENDEZVOUS_FAIL, /* of `generation`: one of its workers failed */
	RENDEZVOUS_DONE, /* of `generation`: all its workers succeeded */
	RENDEZVOUS_RESTART, /* of `generation`: one of its workers asks for it, and has saved. Not
			       charged, unless such restarts follow one another */
	RENDEZVOUS_DRAIN, /* it will leave: the others continue without it */
	RENDEZVOUS_LEAVE, /* it has left */
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
	const char *key; /* for JOIN: its agent's secret, which no later call may lack; or NULL */
	int64_t call; /* for JOIN: number of the member's call; 0: unknown */
	int node_rank; /* for JOIN: the wanted rank; equal for all members: order of arrival */
	bool has_acknowledged; /* for JOIN: it has its order (rendezvous_order_for) */
};

/* The order for a member. */
enum rendezvous_order {
	RENDEZVOUS_WAIT, /* stop its workers and wait */
	RENDEZVOUS_RUN, /* run the workers of this world only */
	RENDEZVOUS_GO, /* stop its workers and leave: the job is closed, or the member drains */
	RENDEZVOUS_ORDER_COUNT,
};
extern const char *const rendezvous_order_words[RENDEZVOUS_ORDER_COUNT]; /* "wait" … */

struct member_order {
	enum rendezvous_order order;
	int64_t generation; /* for RUN; else 0 */
	enum world_reason reason; /* for RUN and WAIT: why the previous world ended */
	enum rendezvous_verdict verdict; /* for GO; OPEN for a draining member */
	bool is_excluded; /* for WAIT: the others train without it */
	bool is_last; /* for WAIT: no restart is left; the job ends unless a lost member was the
			 cause */
};
bool member_order_equals(const struct member_order *a, const struct member_order *b);

/* The members of a rendezvous: found by id, and in order of arrival. */
struct member_entry {
	char *id;
	char *offer;
	char *key; /* as in RENDEZVOUS_JOIN; NULL: none */
	struct world_share share; /* of it */
	void *attachment; /* what the caller has attached to it; NULL at first */
	int64_t last_call; /* number of its last call; 0: unknown */
	int node_rank; /* sorts before the order of arrival */
	int64_t number; /* order of arrival; below 0: of a lost world, by its rank there */
	instant heard_at;
	instant expires_at; /* lost then, unless it calls before */
	instant acknowledge_by; /* lost then, unless it acknowledges its order before */
	int rank; /* in the current world; -1: not in it */
	bool is_done; /* its workers in that world succeeded */
	bool was_blamed; /* it was in the world whose failure was charged last */
	bool is_leaving; /* it will be in no other world */
	int n_failures; /* number of worlds in which its process failed first */
	instant failures_since; /* time of the first of these */
	int64_t failed_in; /* generation of the last of these */
	bool is_awaited; /* restored from the record, not yet heard of */
	bool is_excluded; /* it failed too often: it takes part only if the others are too few */
};

struct member_table {
	struct member_entry **members; /* by id */
	size_t count;
	size_t capacity;
	int64_t n_ever;
};

/* NULL: none. Valid until it is removed. */
struct member_entry *member_table_find(const struct member_table *table, const char *id);

/* Others only read it. */
struct rendezvous {
	struct rendezvous_settings settings;
	struct member_table members; /* including spares */
	instant next_expiry; /* no member's lease ends before */
	struct world world; /* the last one that was formed, even if it has ended */
	bool goes_on; /* it continues */
	bool awaits_last_call; /* several members join: a last call precedes the next world */
	bool is_unsettled; /* a change may require a new world */
	enum world_reason reason; /* of the next one */
	enum rendezvous_phase phase;
	enum rendezvous_verdict verdict;
	instant phase_ends; /* INSTANT_NEVER: only by an event */
	instant restart_at;
	int n_restarts, n_recent; /* total; and in a row, of short-lived worlds */
	instant charged_at; /* time of the last restart; INSTANT_UNSET: none, or given back */
	struct restart_budget budget;
	int64_t failed_world; /* generation of the last failed world */
	int64_t newest; /* newest one known to a member; above the world's after a lost record */
	int64_t first_known; /* the newest one that this server learned first; 0: none */
	instant all_found_at; /* each member that is not lost has called this server by then */
	bool has_formed; /* a world, and not only restored one */
	struct world_share share; /* of all members */
	int64_t version; /* increases with each change of any member's order */
};

struct rendezvous *rendezvous_new(const struct rendezvous_settings *settings, instant now) MUST_USE;
void rendezvous_free(struct rendezvous *rendezvous); /* NULL is fine */

/* Handles an event; afterward the order of any member may differ. Returns ERR_NOT_FOUND if the
 * member has to join first; ERR_CONFLICT if the event is of another generation and was ignored;
 * ERR_REFUSED if a member joins after the end; ERR_LIMIT if there are LIMIT_MEMBERS or
 * LIMIT_REPLICAS processes, or a later call came first; ERR_INVALID if it knows a generation that
 * no lost record explains. */
int rendezvous_step(struct rendezvous *rendezvous, const struct rendezvous_event *event,
		    instant now, struct err *err);

/* Continues from the record of an earlier server (rendezvous/json.h): `past` has the fields of the
 * record, and `excluded` are the excluded members. Each remaining member of the world gets a new
 * lease; a closed world has none. No world is formed before each was heard of or is lost, because
 * `past` may be older than what they know, after a failed write or from a backup. In that case the
 * next world's generation is above theirs. */
struct rendezvous *rendezvous_restore(const struct rendezvous_settings *settings,
				      const struct rendezvous *past,
				      const struct world_member *excluded, size_t n_excluded,
				      instant now) MUST_USE;

/* Whether a call comes from the agent of this member: ERR_EXISTS if the member has another key.
 * An agent that is not a member yet, or has no key, is anybody. */
int rendezvous_check_key(const struct rendezvous *rendezvous, const char *id, const char *key,
			 struct err *err) MUST_USE;

/* When RENDEZVOUS_TIME is due; INSTANT_NEVER. */
instant rendezvous_wake_at(const struct rendezvous *rendezvous);

/* A caller that is not or no longer a member gets GO: the job has ended, or it has left. */
struct member_order rendezvous_order_for(const struct rendezvous *rendezvous, const char *id);
/* The number of members available for the next world. */
size_t rendezvous_count_candidates(const struct rendezvous *rendezvous);

/* A member may know a generation this far above the one that the server began with: an older record
 * lacks no more. */
#define RENDEZVOUS_LOST_WORLDS 1000
/* The same for a server without any record: a world per second for eleven days. */
#define RENDEZVOUS_LOST_RECORD 1000000

/* A member is excluded if its workers failed first in this many worlds within this time. */
#define RENDEZVOUS_MACHINE_FAILURES 3
#define RENDEZVOUS_MACHINE_WINDOW (3600LL * MSEC_PER_SECOND)

/* What muster knows and remembers of a job: TFJob's status, with additions of ours.
 *
 * The reconciler alone writes it, from what a decision says. It is stored as JSON; times are RFC
 * 3339.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

enum condition_type {
	CONDITION_CREATED,
	CONDITION_RUNNING,
	CONDITION_RESTARTING,
	CONDITION_SUCCEEDED,
	CONDITION_SUSPENDED,
	CONDITION_FAILED,
	CONDITION_COUNT,
};
extern const char *const condition_type_words[CONDITION_COUNT]; /* "Created" … */

struct condition {
	enum condition_type type;
	bool is_true;
	const char *reason; /* "TFJobRunning" */
	const char *message; /* "TFJob default/mnist is running." */
	msec last_update;
	msec last_transition;
};

enum replica_state {
	REPLICA_PENDING, /* wanted, not started yet (or waiting to be started again) */
	REPLICA_STARTING, /* accepted by the back end, not running yet (image pull, scheduling) */
	REPLICA_RUNNING,
	REPLICA_STOPPING, /* told to end, not ended yet */
	REPLICA_SUCCEEDED, /* ended with code 0 */
	REPLICA_FAILED, /* ended by itself in another way */
	REPLICA_STOPPED, /* ended because we asked */
	REPLICA_STATE_COUNT,
};
extern const char *const replica_state_words[REPLICA_STATE_COUNT]; /* "Pending" … */
bool replica_state_is_end(enum replica_state state); /* Succeeded, Failed or Stopped */

struct replica_status {
	const char *role; /* lower case */
	int index;
	int attempt; /* number of the attempt that is wanted or was the last; goes up, never back */
	int restarts; /* restarts of this replica after failures (with the job or alone) */
	int ends_in_place; /* of this attempt, whose node starts it again by itself: counted in
			      `restarts` */
	int recent_restarts; /* alone, in a row, without an attempt that lived 10 s: decides the
				delay of the next one */
	msec restart_at; /* MSEC_UNSET, or when it may be started again */
	enum replica_state state;
	bool is_reason_from_elsewhere; /* who looks at the replica does not see `reason`; not in
					  the JSON */
	int64_t pid; /* 0: none */
	const char *address; /* NULL: not known yet */
	int exit_code; /* -1: not ended, or ended by a signal */
	int signal; /* 0: none */
	const char *reason; /* a back end's own word ("OOMKilled", "Unschedulable"), or NULL */
	const char *message; /* and what it says of it, or NULL */
	msec start_time;
	msec end_time;
	const char *log; /* path of this attempt's log, or NULL */
	const char *gpus; /* of this machine: "0,1", "none"; NULL: none are dealt out */

	/* Of a replica that is a Pod. They are stored of jobs that have ended and are remembered
	 * on a machine; as long as there are Pods, a reader of the job lays them over. */
	const char *pod; /* its name; NULL: there is none */
	const char *node; /* NULL: none yet */
	const char *ip;
};

/* Counts of one role, as TFJob's replicaStatuses. */
struct role_status {
	const char *title; /* "Worker" */
	int active;
	int succeeded;
	int failed;
};

/* A failure that followed from the first one. */
struct consequence {
	const char *role;
	int index;
	const char *what; /* "exited with code 1", "was stopped by muster" */
	int attempt;
	const char *machine; /* as in struct failure */
};

/* Why the job failed, or why its last restart was needed; gone once it has succeeded. Without a
 * role it is the job's own: a deadline, a request to stop. */
struct failure {
	const char *role;
	int index;
	int attempt;
	int exit_code; /* -1 when ended by a signal or not ended at all */
	int signal; /* 0: none */
	const char *reason; /* "Error", "Signal", "OOMKilled", "DeadlineExceeded", "Stopped",
			       "SupervisorLost", "StartFailed" … */
	const char *message; /* one sentence for people */
	const char *cause; /* another one, where something else is the likely cause; or NULL */
	const char *exception; /* the line that says what went wrong (status/exception.h), read by
				  the reconciler as last_lines are; NULL when none does */
	const char *machine; /* of another machine of an elastic job: "10.0.0.2 (rank 1)"; NULL:
				the replica is this job's */
	const char *machine_job; /* the name of the job there */
	msec time;
	msec lived; /* how long the failed attempt had run */
	const char **last_lines; /* read from the log by the reconciler; NULL when none. Without a
				    role the last line of each replica, which it begins with */
	size_t n_last_lines;
	const char **stacks; /* where processes were before they were asked to end
				(stacks_summarize), added by the reconciler; NULL when not known */
	size_t n_stacks;
	struct consequence *consequences;
	size_t n_consequences;
};

struct status {
	struct condition *conditions; /* in TFJob's order: what changed last stands last */
	size_t n_conditions;
	const char *foreign_conditions; /* those of types that others have, as the JSON of a list,
					   which are kept as they are; NULL: none */
	struct role_status *roles;
	size_t n_roles;
	struct replica_status *replicas; /* by role in the job's order, then index */
	size_t n_replicas;
	msec start_time;
	msec completion_time;
	msec ending_since; /* that it is asked to end in turns (reconcile/ending.h); or MSEC_UNSET
			    */

	int restarts; /* charged against backoffLimit: whole restarts of the job count one each, of
			 single replicas one each */
	int recent_restarts; /* of the whole job, in a row, without an attempt that lived 10 s:
				decides the delay of the next one */
	const char *machines; /* of a part of an elastic job: how many its worlds have had, the last
				 ones, the newest last: "2, 3, 2". NULL: it is no part, or there was
				 no world */
	struct failure *failure; /* NULL: none so far */
	int exit_code; /* what `run` and `wait` end with; -1 until finished */
};

/* One replica more in this state. */
void role_status_add(struct role_status *counts, enum replica_state state);
/* Of a suspended job: without the roles of which nothing counts. */
void status_drop_idle_roles(struct status *status);

bool status_condition_is_true(const struct status *status, enum condition_type type);
const struct condition *status_condition(const struct status *status, enum condition_type type);
bool status_has_pods(const struct status *status); /* of at least one replica it is known */
bool status_is_finished(const struct status *status); /* Succeeded or Failed is true */
const struct replica_status *status_replica(const struct status *status, const char *role,
					    int index);
/* The same. The search begins at this place of `replicas` and goes round, so that who knows where
 * they stand finds one at once. */
struct replica_status *status_replica_near(const struct status *status, size_t place,
					   const char *role, int index);

/* The JSON of `.status`, in TFJob's shape; the caller frees it. */
struct json *status_write(const struct status *status) MUST_USE;
/* Reads what status_write wrote (NULL or null gives an empty status); everything lives in the
 * arena. ERR_INVALID names the field. */
int status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		struct err *err) MUST_USE;
bool status_equals(const struct status *a, const struct status *b);
/* Moves all moments that are set: the wall clock was set, and they are on it. */
void status_move_times(struct status *status, msec step);
/* A copy that lives in the arena, with all that it points to. */
struct status status_copy(const struct status *status, struct arena *arena);

/* The same of a failure alone. */
struct json *status_failure_write(const struct failure *failure) MUST_USE;
int status_failure_read(const struct json *value, struct arena *arena, struct failure **ret_failure,
			struct err *err) MUST_USE;
struct failure *status_failure_copy(const struct failure *failure, struct arena *arena);

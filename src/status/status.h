/* What muster knows and records of a job: TFJob's status, with our additions.
 *
 * Only the reconciler writes it, from a decision. It is stored as JSON; times are RFC 3339. */
#pragma once

#include "base/fields.h"

enum condition_type {
	CONDITION_CREATED,
	CONDITION_RUNNING,
	CONDITION_RESTARTING,
	CONDITION_SUCCEEDED,
	CONDITION_SUSPENDED,
	CONDITION_QUEUED, /* it waits for GPUs of this machine, or for other jobs */
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
	REPLICA_PENDING, /* wanted, not started yet (or waiting for a restart) */
	REPLICA_STARTING, /* accepted by the back end, not running yet (image pull, scheduling) */
	REPLICA_RUNNING,
	REPLICA_STOPPING, /* asked to stop, not ended yet */
	REPLICA_SUCCEEDED, /* ended with code 0 */
	REPLICA_FAILED, /* ended by itself with another result */
	REPLICA_STOPPED, /* ended because we stopped it */
	REPLICA_STATE_COUNT,
};
extern const char *const replica_state_words[REPLICA_STATE_COUNT]; /* "Pending" … */
bool replica_state_is_end(enum replica_state state); /* Succeeded, Failed or Stopped */

struct replica_status {
	const char *role; /* lower case */
	int index;
	int attempt; /* number of the wanted or last attempt; never decreases */
	int restarts; /* restarts of this replica after failures (with the job or alone) */
	int ends_in_place; /* restarts of this attempt by its node, included in `restarts` */
	int recent_restarts; /* of this replica alone, in a row, without an attempt that lived 10 s:
				determines the next delay */
	msec restart_at; /* earliest time of the next start, or MSEC_UNSET */
	enum replica_state state;
	bool is_reason_from_elsewhere; /* the replica has no `reason` itself; not in JSON */
	int64_t pid; /* 0: none */
	const char *address; /* NULL: not known yet */
	int exit_code; /* -1: not ended, or ended by a signal */
	int signal; /* 0: none */
	const char *reason; /* a back end's word ("OOMKilled", "Unschedulable"), or NULL */
	const char *message; /* the back end's explanation, or NULL */
	msec start_time;
	msec end_time;
	const char *log; /* path of this attempt's log, or NULL */
	const char *gpus; /* of this machine: "0,1", "none"; NULL: none are assigned */

	/* For a replica that is a Pod. These are stored only for finished jobs that are recorded on
	 * a machine. As long as the Pods exist, a reader of the job fills them in. */
	const char *pod; /* its name; NULL: none */
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

/* A failure that the first one caused. */
struct consequence {
	const char *role;
	int index;
	const char *what; /* "exited with code 1", "was stopped by muster" */
	int attempt;
	const char *machine; /* as in struct failure */
};

/* Why the job failed, or why it last restarted; removed once the job has succeeded. Without a role
 * it is of the job itself: a deadline, a stop request. */
struct failure {
	const char *role;
	int index;
	int attempt;
	int exit_code; /* -1 if ended by a signal or not ended */
	int signal; /* 0: none */
	int64_t pid; /* of the process; 0: unknown */
	const char *reason; /* "Error", "Signal", "OOMKilled", "DeadlineExceeded", "Stopped",
			       "SupervisorLost", "StartFailed" … */
	const char *message; /* one sentence for the user */
	const char *cause; /* another sentence, if something else is the likely cause; or NULL */
	const char *exception; /* the line with the error (status/exception.h), read by the
				  reconciler like last_lines; NULL: none */
	const char *rank; /* in an elastic job, among the processes of all machines: "2 of 4"; NULL:
			     unknown, or no such job */
	const char *machine; /* another machine of an elastic job: "10.0.0.2 (machine 1)"; NULL: the
				replica is this job's */
	const char *machine_job; /* the name of the job on that machine */
	msec time;
	msec lived; /* how long the failed attempt had run */
	const char **last_lines; /* read from the log by the reconciler; NULL: none. Without a role,
				    the last line of each replica, prefixed with its name */
	size_t n_last_lines;
	const char **stacks; /* where processes were before they were asked to stop
				(stacks_summarize), added by the reconciler; NULL: unknown */
	size_t n_stacks;
	struct consequence *consequences;
	size_t n_consequences;
};

struct status {
	struct condition *conditions; /* in TFJob's order: the last changed one is last */
	size_t n_conditions;
	const char *foreign_conditions; /* of unknown types, an unchanged JSON list; NULL: none */
	struct role_status *roles;
	size_t n_roles;
	struct replica_status *replicas; /* by role in the job's order, then index */
	size_t n_replicas;
	msec start_time;
	msec completion_time;
	msec ending_since; /* start of a stop in turns (reconcile/steps.h); or MSEC_UNSET */

	int restarts; /* charged against backoffLimit: each restart of the whole job or of a single
			 replica counts one */
	int recent_restarts; /* of the whole job, in a row, without an attempt that lived 10 s:
				determines the next delay */
	const char *machines; /* for a part of an elastic job: the sizes of its last worlds, the
				 newest last: "2, 3, 2". NULL: no part, or no world yet */
	/* For a part of an elastic job: the global rank of its first process in the newest world,
	 * and the number of processes of all machines; 0: no part, or no world yet. */
	int first_rank, n_ranks;
	struct failure *failure; /* NULL: none so far */
	int exit_code; /* the exit code of `run` and `wait`; -1 until finished */
};

/* Counts one more replica in this state. */
void role_status_add(struct role_status *counts, enum replica_state state);
/* For a suspended job: removes the roles whose counts are all 0. */
void status_drop_idle_roles(struct status *status);

bool status_condition_is_true(const struct status *status, enum condition_type type);
const struct condition *status_condition(const struct status *status, enum condition_type type);
bool status_has_pods(const struct status *status); /* the Pod of at least one replica is known */
bool status_is_finished(const struct status *status); /* Succeeded or Failed is true */
const struct replica_status *status_replica(const struct status *status, const char *role,
					    int index);
/* The same. The search begins at this index of `replicas` and wraps around, so that a caller who
 * knows the order finds a replica immediately. */
struct replica_status *status_replica_near(const struct status *status, size_t place,
					   const char *role, int index);

/* The JSON of `.status`, in TFJob's form; the caller frees it. */
struct json *status_write(const struct status *status) MUST_USE;
/* Reads the output of status_write (NULL or null gives an empty status); the result is in the
 * arena. Returns ERR_INVALID with the field. */
int status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		struct err *err) MUST_USE;
bool status_equals(const struct status *a, const struct status *b);
/* Moves all times that are set by `step`, after the wall clock was set. */
void status_move_times(struct status *status, msec step);
/* A deep copy in the arena. */
struct status status_copy(const struct status *status, struct arena *arena);

/* The same for a failure alone. */
struct json *status_failure_write(const struct failure *failure) MUST_USE;
int status_failure_read(const struct json *value, struct arena *arena, struct failure **ret_failure,
			struct err *err) MUST_USE;
struct failure *status_failure_copy(const struct failure *failure, struct arena *arena);

/* Lists of replicas in a sentence, adjacent ones as one range. Appends "worker-3", or "worker-3 to
 * worker-9" if first and last differ. */
void replica_names_add_range(struct text *text, const char *role, int first, int last);

/* Appends "2 of 6", or "2 to 3 of 6" for several. */
void replica_names_add_ranks(struct text *text, int first, int count, int n_ranks);

/* Appends the replicas for which `is_named` is true: "ps-0, ps-1, worker-0 to worker-1999", and
 * after a few ranges "and 12 more". Appends nothing if there are none. */
void replica_names_add(struct text *text, const struct status *status,
		       bool (*is_named)(const struct replica_status *replica));

/* The fields of what a status lists for each replica; the first two are a role and an index. */
extern const struct json_field status_replica_fields[];
extern const struct json_field status_consequence_fields[];

/* The two ends of a decision: what a back end observes, and the plan, in the decision's arena. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "rendezvous/rendezvous.h"
#include "status/status.h"

enum action_type {
	ACTION_PUBLISH, /* give the replica its address (a local port, a Service on Kubernetes) */
	ACTION_START, /* start this attempt of the replica */
	ACTION_STOP, /* ask it to stop: a signal, then a kill after `grace` */
	ACTION_KILL, /* kill it immediately */
	ACTION_REMOVE, /* drop the ended object; its log stays */
	ACTION_UNPUBLISH, /* withdraw the address */
	ACTION_TYPE_COUNT,
};
extern const char *const action_type_words[ACTION_TYPE_COUNT];

struct action {
	enum action_type type;
	const char *role;
	int index;
	int attempt; /* for START, STOP, KILL, REMOVE */
	msec grace; /* for STOP */
	bool keeps_stacks; /* for STOP: record stacks first (status/stacks.h), if possible */
	int signal; /* for STOP; 0: the back end knows which */
};

enum note_level { NOTE_NORMAL, NOTE_WARNING };

/* A sentence for the user; becomes a log line on this machine and an Event on Kubernetes. */
struct note {
	enum note_level level;
	const char *reason; /* "TFJobRestarting" */
	const char *sentence;
};

struct plan {
	struct action *actions; /* in order of execution */
	size_t n_actions;
	struct status status; /* the complete new status */
	bool is_status_changed;
	bool is_failure_new; /* status.failure is new: the reconciler adds last lines */
	bool is_job_drained; /* finished, and all replicas that have to end are removed */
	bool is_job_expired; /* drained and kept long enough: delete the job itself */
	struct note *notes;
	size_t n_notes;
	msec wake_at; /* latest time of the next decision; MSEC_NEVER: only on events */
};

/* Add to a plan. The action or note is copied into the arena, its texts are not. */
void plan_add_action(struct plan *plan, struct arena *arena, const struct action *action);
void plan_add_note(struct plan *plan, struct arena *arena, enum note_level level,
		   const char *reason, const char *sentence);
/* Makes the next decision happen at `at` or earlier. */
void plan_wake_at(struct plan *plan, msec at);

/* The observed state of a job's replicas, as a back end sees it, and how far their start has come.
 * Only facts, no intentions. */

enum observed_phase {
	OBSERVED_STARTING, /* created, not yet running */
	OBSERVED_RUNNING,
	OBSERVED_SUCCEEDED, /* ended with code 0; the object exists until it is removed */
	OBSERVED_FAILED, /* ended otherwise, or could not be started (reason "StartFailed") */
	OBSERVED_PHASE_COUNT,
};
extern const char *const observed_phase_words[OBSERVED_PHASE_COUNT];

/* How far the start of a replica has come, if the back end knows. */
enum observed_stage {
	OBSERVED_MADE,
	OBSERVED_SCHEDULED, /* it has a node */
	OBSERVED_SET_UP, /* volumes and network are ready */
};

/* How a process ended that its node restarts in place. */
struct observed_end {
	int exit_code; /* -1: by a signal */
	int signal; /* 0: none */
	const char *reason; /* "OOMKilled", or NULL */
	msec started_at, ended_at;
};

struct observed_replica {
	const char *role; /* lower case; may be one that the job no longer has */
	int index;
	int attempt;
	enum observed_phase phase;
	enum observed_stage stage;
	bool is_object_running; /* whether a TFJob's Pod as a whole is running, which counts,
				   regardless of the training process */
	int64_t pid; /* also of a process that has ended; 0: unknown */
	int exit_code; /* -1: not ended, or by a signal */
	int signal; /* 0: none */
	const char *reason; /* "OOMKilled", "Evicted", "StartFailed" …; NULL: none */
	const char *message; /* a sentence, or NULL */
	const char *container; /* the container of `reason`, if one of several waits; or NULL */
	const char *node; /* or NULL */
	bool is_node_silent; /* that node has not reported for a while */
	bool is_reason_from_elsewhere; /* not from the replica itself */
	msec started_at;
	msec ended_at;
	msec printed_at; /* last; MSEC_UNSET: never, or unknown on this machine */
	msec stop_asked_at; /* MSEC_UNSET: not asked to stop; on Kubernetes the deletionTimestamp */
	msec kill_at; /* when the requested stop becomes a kill; MSEC_UNSET: no stop */
	bool is_killed; /* the kill was sent */
	/* What it has loaded, TensorFlow or PyTorch; known a while after its stop request, or after
	 * another replica has failed. */
	bool has_tensorflow, has_torch;
	bool is_held; /* it is kept until its directories were fetched */
	bool is_unmade; /* a start that is waiting or was rejected: nothing exists yet */
	int n_ends_in_place; /* number of restarts in place */
	struct observed_end last_end; /* the last end in place */
	const char *log; /* path of this attempt's log, or NULL */
	const char *gpus; /* "0,1", "none"; NULL: its back end assigns none */
};

struct observed_address {
	const char *role;
	int index;
	const char *address;
};

/* The orders of an elastic job's server (rendezvous/member.h). */
struct observed_world {
	int generation; /* the attempt whose processes should run; 0: none */
	int size; /* machines of that world */
	/* Ranks of this machine's processes in the newest world, of this generation, whether it
	 * should run or not: from the first one on, of so many. */
	int ranks_of, first_rank, n_ranks;
	bool may_save; /* those that stop may save: none has failed */
	bool ends_by_failure; /* the job is of this machine alone, and not restarted */
	bool is_over; /* the member has left its job or given up; nothing of it is left */
	enum rendezvous_verdict verdict; /* of a finished job; OPEN: only this member is done */
	const char *why; /* for OPEN: what separated it from its server; NULL: it was drained */
	const char *news; /* what has changed, as a sentence; NULL: already reported */
	const struct failure *failure; /* of all machines, the job's newest; NULL: none */
	bool is_failure_news; /* it is of another machine and was not yet reported */
};

/* What a job has to wait for before it starts. */
struct observed_queue {
	const char *awaited; /* "2 GPUs", "job 'prepare' to succeed" */
	const char *details; /* why it does not have it yet; "" */
	const char *vain; /* why it can never start; NULL: it can */
};

/* Properties of a back end that affect decisions. */
struct backend_traits {
	bool sends_signals; /* a stop sends its signal; on Kubernetes the image decides */
	bool kills_after_grace; /* it turns a stop into a kill by itself */
	bool names_carry_attempt; /* a new attempt may start while the old object exists */
	bool ends_finished_jobs; /* a finished job stops, whatever cleanPodPolicy says */
	bool waits_for_workers; /* a job without chief, master and workers keeps running, as a TFJob
				   does: they may be added. Else it has succeeded when all replicas
				   have, because nothing is left to run */
	bool gives_whole_grace; /* after the end of the job or a failure, replicas get the full
				   grace period, as in Kubeflow */
	bool repeats_attempts; /* an attempt that another process began and that does not exist is
				  started as the same attempt: no log and no number could mix up
				  two. Deleted replicas restart without being counted */
};

struct observed {
	struct observed_replica *replicas;
	size_t n_replicas;
	struct observed_address *addresses; /* published ones */
	size_t n_addresses;
	const struct observed_world *world; /* NULL: the job is not elastic */
	/* How far the wall clock was set since the last pass. The times of the replicas are already
	 * adjusted; those of the status have to be. */
	msec clock_step;
	const struct observed_queue *queue; /* NULL: the job may start */
	bool holds_starts; /* no start is allowed yet: a scheduler has not admitted the job */
	struct backend_traits traits;
	/* This process has done nothing for the job yet: attempts that the previous supervisor
	 * recorded may never have been created. */
	bool is_first_observation;
};

bool observed_is_live(const struct observed_replica *replica); /* starting or running */
/* It was asked to stop or killed on purpose, by any process. */
bool observed_was_asked_to_end(const struct observed_replica *replica);
/* Its state, if it was asked to end by muster. */
enum replica_state observed_state(const struct observed_replica *replica);

/* How far the start of a job's Pods has come: created, scheduled on a node, set up on it (volumes,
 * network and all else that the container needs except its image), running. A cluster does not
 * report that an image was pulled: a Pod that is set up but not running mostly waits for that. */
struct startup {
	int n_pods;
	int n_scheduled;
	int n_set_up;
	int n_running; /* or ended after it had started */
};

/* Adds `change` (1 or -1) to the counts of the replica's stages; set up includes scheduled. */
void startup_add(struct startup *startup, const struct observed_replica *replica, int change);

/* Appends "4 Pods: 4 scheduled, 3 set up, 1 running". */
void startup_describe(const struct startup *startup, struct text *text);

/* Whether all replicas have a Pod that runs or has run. */
bool startup_is_over(const struct startup *startup, int n_replicas);

/* What to do about a job: the result of one decision. All of it is in the decision's arena. */
#pragma once

#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "status/status.h"

#include <stdbool.h>
#include <stddef.h>

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
	bool keeps_stacks; /* for STOP: record the processes' stacks first (status/stacks.h), if the
			      back end can */
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
	bool is_failure_new; /* this decision set status.failure: the reconciler adds the last lines
			      */
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

/* What to do about a job: the outcome of one decision. Everything in it lives in the decision's
 * arena. */
#pragma once

#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "status/status.h"

#include <stdbool.h>
#include <stddef.h>

enum action_type {
	ACTION_PUBLISH, /* give the replica its address (a port here, a Service on Kubernetes) */
	ACTION_START, /* start this attempt of the replica */
	ACTION_STOP, /* ask it to end: a signal, and after `grace` comes a kill */
	ACTION_KILL, /* end it now */
	ACTION_REMOVE, /* forget the ended object; its log stays */
	ACTION_UNPUBLISH, /* take the address back */
	ACTION_TYPE_COUNT,
};
extern const char *const action_type_words[ACTION_TYPE_COUNT];

struct action {
	enum action_type type;
	const char *role;
	int index;
	int attempt; /* of START, STOP, KILL, REMOVE */
	msec grace; /* of STOP */
	bool keeps_stacks; /* of STOP: where its processes are is kept before (status/stacks.h), by
			      a back end that can */
	int signal; /* of STOP; 0 where the back end knows which one it is */
};

enum note_level { NOTE_NORMAL, NOTE_WARNING };

/* A sentence for people; becomes a log line here and an Event on Kubernetes. */
struct note {
	enum note_level level;
	const char *reason; /* "TFJobRestarting" */
	const char *sentence;
};

struct plan {
	struct action *actions; /* in the order in which they are to be done */
	size_t n_actions;
	struct status status; /* the new status, whole */
	bool is_status_changed;
	bool is_failure_new; /* status.failure was set by this decision: the reconciler adds the
				last lines */
	bool is_job_drained; /* finished, and every replica that has to end has ended and is
				removed */
	bool is_job_expired; /* drained and kept long enough: the job itself is to be deleted */
	struct note *notes;
	size_t n_notes;
	msec wake_at; /* decide again then at the latest; MSEC_NEVER: only on news */
};

/* For code that makes a plan; what is added is copied into the arena, its texts are not. */
void plan_add_action(struct plan *plan, struct arena *arena, const struct action *action);
void plan_add_note(struct plan *plan, struct arena *arena, enum note_level level,
		   const char *reason, const char *sentence);
/* Not later than `at`. */
void plan_wake_at(struct plan *plan, msec at);

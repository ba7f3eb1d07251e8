/* The working table of one decision: every replica with its recorded, wanted and observed state.
 *
 * Only the files of reconcile/reconcile include this. A decision begins with a copy of the last
 * status, in which each replica already has its observed state. The steps of the recipe change that
 * copy, and add actions and notes to the plan. */
#pragma once

#include "base/mem.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

struct replica {
	const struct role *role; /* NULL: the job no longer has this role */
	struct replica_status *status; /* as it will be written */
	enum replica_state last_state; /* as recorded */
	const char *last_reason; /* as recorded; NULL: none */
	const struct observed_replica *object; /* of the wanted attempt; NULL: there is none */
	const char *address; /* the published one; NULL: none */
	bool is_wanted; /* the job has this role, and the index is below its count */
	bool is_remembered; /* an earlier decision was about it */
	bool is_disrupted; /* another client deleted it, or it disappeared */
	size_t n_older; /* objects of other attempts */
	bool is_older_live; /* one of them has not ended */
};

struct decision {
	const struct job *job;
	const struct observed *observed;
	msec now;
	struct arena *arena;
	struct plan *plan;
	struct status *status; /* the plan's */
	struct replica *replicas; /* by role in the job's order, then index; removed roles last */
	size_t n_replicas;
	size_t *first_of_role; /* index of each role's first replica, then of the end */
};

void decision_begin(struct decision *decision, const struct job *job,
		    const struct status *last_status, const struct observed *observed, msec now,
		    struct arena *arena, struct plan *plan);

/* The replica of this role and index; NULL if it is unknown. */
struct replica *decision_find(const struct decision *decision, const char *role, int index);

/* The job should not run: finished, suspended, in a queue, asked to stop, or a member outside the
 * world. */
bool decision_is_at_rest(const struct decision *decision);

/* Starting or running: muster would have to stop it. */
bool replica_is_live(const struct replica *replica);

/* Begins a new attempt; the object of the previous one becomes a leftover. */
void replica_begin_attempt(struct replica *replica);
/* The same with this attempt number, which must be higher. */
void replica_begin_attempt_number(struct replica *replica, int attempt);
/* Begins a new attempt of every wanted replica that was ever started. */
void decision_begin_all_attempts(struct decision *decision);

/* Clears the restart delays, and the next restart is immediate. */
void decision_forget_delays(struct decision *decision);

/* Drops all conditions except Created. */
void decision_forget_conditions(struct decision *decision);
/* Sets a condition by TFJob's rules (pkg/util/status.go). The same type, status and reason changes
 * nothing. A changed condition moves to the end of the list. Running and Restarting remove each
 * other. Succeeded and Failed turn Running to False. Once the job has ended no condition
 * changes. */
void decision_set_condition(struct decision *decision, enum condition_type type, bool is_true,
			    const char *reason, const char *message);

void decision_act(struct decision *decision, enum action_type type, const char *role, int index,
		  int attempt, msec grace);
void decision_note(struct decision *decision, enum note_level level, const char *reason,
		   const char *sentence);

/* The working table of one decision: every replica with what is remembered, wanted and true of it.
 *
 * Only the files that make up reconcile/reconcile include this. A decision begins with a copy of
 * the last status in which each replica already has the state that was observed; the steps of the
 * recipe change that copy, and add actions and notes to the plan. */
#pragma once

#include "base/mem.h"
#include "reconcile/observed.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

#include <stdbool.h>
#include <stddef.h>

struct replica {
	const struct role *role; /* NULL: the job no longer has this role */
	struct replica_status *status; /* as it will be written */
	enum replica_state last_state; /* as it was remembered */
	const char *last_reason; /* as well; NULL: none */
	const struct observed_replica *object; /* of the wanted attempt; NULL: there is none */
	const char *address; /* the published one; NULL: none */
	bool is_wanted; /* the job has this role, and the index is below its count */
	bool is_remembered; /* somebody decided on it before */
	bool is_disrupted; /* somebody else deleted it, or it disappeared */
	size_t n_older; /* objects of other attempts */
	bool is_older_live; /* and one of them has not ended */
};

struct decision {
	const struct job *job;
	const struct observed *observed;
	msec now;
	struct arena *arena;
	struct plan *plan;
	struct status *status; /* the plan's */
	struct replica *replicas; /* by role in the job's order, then index; roles that the job no
				     longer has stand last */
	size_t n_replicas;
	size_t *first_of_role; /* where each role's replicas begin, and where the last one's end */
};

void decision_begin(struct decision *decision, const struct job *job,
		    const struct status *last_status, const struct observed *observed, msec now,
		    struct arena *arena, struct plan *plan);

/* The replica of this role and index; NULL when nobody knows of it. */
struct replica *decision_find(const struct decision *decision, const char *role, int index);

/* Nobody wants this job to run: it is finished, suspended, or asked to end, or no world has it. */
bool decision_is_at_rest(const struct decision *decision);

/* Running or about to: what muster would have to end. */
bool replica_is_live(const struct replica *replica);

/* A new attempt: the object of the one before becomes a leftover. */
void replica_begin_attempt(struct replica *replica);
/* The same with this number, which is higher. */
void replica_begin_attempt_number(struct replica *replica, int attempt);
/* A new attempt of every replica that is wanted and had been started. */
void decision_begin_all_attempts(struct decision *decision);

/* No restart waits any more, and the next one comes at once. */
void decision_forget_delays(struct decision *decision);

/* Of all conditions only that the job was created stays. */
void decision_forget_conditions(struct decision *decision);
/* Sets a condition by TFJob's rules (pkg/util/status.go): the same type, status and reason changes
 * nothing; what changes goes to the end of the list; Running and Restarting remove each other;
 * Succeeded and Failed turn Running to False; and once the job has ended no condition changes. */
void decision_set_condition(struct decision *decision, enum condition_type type, bool is_true,
			    const char *reason, const char *message);

void decision_act(struct decision *decision, enum action_type type, const char *role, int index,
		  int attempt, msec grace);
void decision_note(struct decision *decision, enum note_level level, const char *reason,
		   const char *sentence);

/* Describes a failed replica and the replicas that failed with it. */
#pragma once

#include "reconcile/decision.h"
#include "status/failure_words.h"
#include "status/status.h"

/* The record of a replica's end, with "worker-1 exited with code 3 after 2s (attempt 0)" as its
 * message. */
struct failure *failure_of_replica(const struct decision *decision, const struct replica *replica);

/* The record of a replica that is paused while peers on other machines wait for it; or NULL. */
struct failure *failure_of_paused(const struct decision *decision);

/* The record of an end without a failed replica: a deadline, a request to stop. */
struct failure *failure_of_job(const struct decision *decision, const char *reason,
			       const char *message);

/* Adds the consequences of the first failure: other replicas that failed, and those that muster
 * stops because of it (`ends_survivors`). */
void failure_add_consequences(const struct decision *decision, const struct replica *first,
			      bool ends_survivors, struct failure *failure);

/* Corrects the consequences when a replica that was asked to stop had ended by itself. */
void failure_revise_consequences(struct decision *decision);

/* As in a shell: the exit code, 128 + n for a signal, 127 without a start, 1 if unknown. */
int failure_exit_code(const struct failure *failure);

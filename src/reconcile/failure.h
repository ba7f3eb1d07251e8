/* What is said about a replica that failed, and about those that fell with it. */
#pragma once

#include "reconcile/decision.h"
#include "status/failure_words.h"
#include "status/status.h"

/* The record of a replica's end, with "worker-1 exited with code 3 after 2s (attempt 0)" as its
 * message. */
struct failure *failure_of_replica(const struct decision *decision, const struct replica *replica);

/* The record of a replica that is paused by a signal, for which peers on other machines have
 * waited. NULL: none is. */
struct failure *failure_of_paused(const struct decision *decision);

/* The record of an end that no replica is to blame for: a deadline, a request to stop. */
struct failure *failure_of_job(const struct decision *decision, const char *reason,
			       const char *message);

/* Adds what followed from the first failure: replicas that failed beside it, and those that muster
 * ends because of it (`ends_survivors`). */
void failure_add_consequences(const struct decision *decision, const struct replica *first,
			      bool ends_survivors, struct failure *failure);

/* Tells the truth of those that muster asked to end because of a failure, and that had ended by
 * themselves before they heard of it: seen when their ends are. */
void failure_revise_consequences(struct decision *decision);

/* What a shell would say: the exit code, 128 + n for a signal, 127 for a program that could not be
 * started, 1 where nothing is known. */
int failure_exit_code(const struct failure *failure);

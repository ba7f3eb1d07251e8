/* Tidies up after supervisors that died without a word, so that nobody ever reads "Running" of a
 * job that does not run. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "store/store.h"

#include <stdbool.h>

/* Whether nobody looks after a job any more that somebody has to look after: by the `supervisor`
 * text of its record. (A job that ended in order has no supervisor.) */
bool job_is_orphaned(const char *supervisor, bool is_finished);

/* Ends what is left of the job's processes (found by the mark in their environment), writes how it
 * ended, and gives its claims back. Does nothing where somebody looks after the job. Several
 * processes may settle the same job at once; one of them writes. */
int orphaned_job_clean_up(struct store *store, const char *name, const char *uid,
			  struct err *err) MUST_USE;

/* Like the store's get, of the job as it is after settling where that is needed. Where the store
 * cannot be written (read-only, full disk), only what is given is settled. */
int orphaned_job_get(struct store *store, const char *name, struct store_record *ret_record,
		     struct err *err) MUST_USE;

/* Kills every process that carries the job's mark, until none is left, or until the record names
 * another supervisor than the one that was read. */
void orphaned_job_kill_processes(struct store *store, const struct store_record *record);

/* Removes an ended job: its logs, then its record and claims. */
int orphaned_job_remove(struct store *store, const char *state_folder, const char *name,
			const char *uid, struct err *err) MUST_USE;

/* Cleans up after killed supervisors, so that no status says "Running" of an ended job. */
#pragma once

#include "base/err.h"
#include "store/store.h"

/* Whether a job needs to be cleaned up: its recorded supervisor was killed, or it is unfinished and
 * has none. (A job that finished normally has no supervisor.) */
bool job_is_orphaned(const char *supervisor, bool is_finished);

/* Kills the job's remaining processes (found by the mark in their environment), records how it
 * ended, and releases its claims. Does nothing if the job has a supervisor. Several processes may
 * clean up the same job at the same time; one of them writes. */
int orphaned_job_clean_up(struct store *store, const char *name, const char *uid,
			  struct err *err) MUST_USE;

/* The store's get, after cleaning up if necessary. If the store cannot be written (read-only, full
 * disk), only the returned copy is updated. */
int orphaned_job_get(struct store *store, const char *name, struct store_record *ret_record,
		     struct err *err) MUST_USE;

/* Kills every process that carries the job's mark, until none is left, or until the record names
 * another supervisor than `record` does. */
void orphaned_job_kill_processes(struct store *store, const struct store_record *record);

/* Deletes a finished job: its logs, then its record and claims. */
int orphaned_job_remove(struct store *store, const char *state_folder, const char *name,
			const char *uid, struct err *err) MUST_USE;

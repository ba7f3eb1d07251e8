/* A job's log directory: the attempts that have logs in it, and which process may write there. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Names sorted by role, index, stream and attempt. */
struct log_folder {
	char *path;
	struct log_name *names;
	size_t count;
	size_t capacity;
	int64_t changed; /* time stamp of the directory at the last read, in nanoseconds */
	bool is_stable; /* a later change shows in the directory's time */
};

/* Does not read yet. */
void log_folder_init(struct log_folder *folder, const char *path);
void log_folder_done(struct log_folder *folder);

/* Reads the names again if the directory may have changed: *ret_is_changed. ERR_NOT_FOUND,
 * ERR_IO. */
int log_folder_read(struct log_folder *folder, bool *ret_is_changed, struct err *err) MUST_USE;

/* The next attempt of the same stream of a replica that has a log; NULL when there is none. */
const struct log_name *log_folder_next_attempt(const struct log_folder *folder,
					       const struct log_name *name);

/* Adds the replicas as text: "worker-0..3, ps-0"; nothing without replicas. */
void log_folder_describe_replicas(const struct log_folder *folder, struct text *text);

/* Whether a process of this machine copies the logs of a job on a cluster into the job's directory.
 * It holds a lock (flock) on the directory, which ends with the process in any case. So a process
 * that finds the lock taken can rely on the files to grow.
 *
 * Takes the lock until the descriptor is closed; -1 if that is not possible: then other processes
 * copy the logs for themselves. */
int log_folder_lock(const char *folder) MUST_USE;
bool log_folder_is_locked(const char *folder);

/* The logs of a job on a cluster that a user attaches to. The cluster sends the log of each Pod
 * from its beginning. The job's directory on this machine may already contain the same lines, and
 * another process may still write into it. So an attached muster process stores logs in its own
 * subdirectory; they replace the earlier ones only if it has supervised the job. Logs of deleted
 * Pods stay.
 *
 * Creates the subdirectory in that of the job. Caller frees the path. */
int attached_logs_create(const char *job_folder, char **ret_folder, struct err *err) MUST_USE;
/* Deletes the subdirectory; `is_kept`: its files first replace those of the same names. */
void attached_logs_end(const char *job_folder, const char *folder, bool is_kept);

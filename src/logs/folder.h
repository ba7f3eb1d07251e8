/* A job's log directory: the names of logs, the attempts that have logs in it, and which process
 * may write there. */
#pragma once

#include "base/text.h"

#include <time.h>

/* Names of log files: ROLE-INDEX.ATTEMPT.log for one attempt of a replica, ….index for its index,
 * and ….log.1 for the older part of a rotated log. A replica whose streams are kept apart has a
 * second log, ROLE-INDEX.ATTEMPT.stderr.log. */

#define LOG_ROLE_SIZE 64 /* a role's name is a DNS label */

/* One attempt of a replica. */
struct log_name {
	char role[LOG_ROLE_SIZE];
	int index;
	int attempt;
	bool is_stderr; /* false: stdout, or both streams in the order of arrival */
};

/* The four files of an attempt. */
enum log_file {
	LOG_FILE_TEXT, /* ROLE-INDEX.ATTEMPT.log */
	LOG_FILE_INDEX, /* ROLE-INDEX.ATTEMPT.index */
	LOG_FILE_OLD_TEXT, /* ROLE-INDEX.ATTEMPT.log.1 */
	LOG_FILE_OLD_INDEX, /* ROLE-INDEX.ATTEMPT.index.1 */
	LOG_FILE_COUNT,
};

/* The name of an attempt's only log, or of its stdout. ERR_LIMIT: the role's name is too long. */
int log_name_make(const char *role, int index, int attempt, struct log_name *ret_name,
		  struct err *err) MUST_USE;

/* The path of such a file; the caller frees it. */
char *log_name_path(const char *folder, const struct log_name *name, enum log_file file) MUST_USE;

/* The path of the log of a separate stderr, beside that of stdout; caller frees. */
char *log_name_stderr_path(const char *stdout_path) MUST_USE;

/* Reads the name of a file in a log directory; false if it is not the text of an attempt (current
 * or old). */
bool log_name_read(const char *file_name, struct log_name *ret_name);

/* Order by the role's spelling, then index, stream and attempt: below, at or above 0. */
int log_name_compare(const struct log_name *a, const struct log_name *b);
/* The same role and index; the attempt and the stream may differ. */
bool log_name_same_replica(const struct log_name *a, const struct log_name *b);
/* The same stream of the same replica. */
bool log_name_same_stream(const struct log_name *a, const struct log_name *b);
/* Whether the replica is one of the list, whose attempts are ignored. An empty list has all. */
bool log_name_is_listed(const struct log_name *list, size_t count, const struct log_name *name);

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

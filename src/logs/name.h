/* Names of log files: ROLE-INDEX.ATTEMPT.log for one attempt of a replica, ….index for its index,
 * and ….log.1 for the older part of a rotated log. A replica whose streams are kept apart has a
 * second log, ROLE-INDEX.ATTEMPT.stderr.log. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

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

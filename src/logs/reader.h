/* Reads the logs of a job as one: lines of all replicas and attempts, merged by the time at which
 * they were written, and followed as they grow.
 *
 * Lines of one replica keep their order, and those of an attempt come before those of the next. The
 * reader never waits or watches: its user calls log_reader_poll when there is news, and then takes
 * lines until there are none. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"
#include "logs/folder.h"
#include "logs/stream.h"
#include "logs/unsaved_output.h"
#include "status/exception.h"

/* The selected lines. */
struct log_selection {
	const char *role; /* NULL: every role */
	int index; /* -1: every index */
	const struct log_name *replicas; /* only these, whose attempts are ignored … */
	size_t n_replicas; /* … if there are any */
	int attempt; /* -1: every attempt */
	bool is_previous; /* of each replica only the attempt before its last one */
	int64_t tail; /* the last so many lines of each replica; -1: all */
	msec since; /* lines written then or later; MSEC_UNSET: all */
	const char
		*pattern; /* lines that match this POSIX extended regular expression; NULL: all */
	size_t line_limit; /* longer lines are split into pieces of this size; 0: LIMIT_LOG_LINE */
};

/* All lines. */
#define LOG_SELECTION_ALL                                                                          \
	((struct log_selection){.index = -1, .attempt = -1, .tail = -1, .since = MSEC_UNSET})

/* Whether the selection includes this attempt of a replica. */
bool log_selection_has(const struct log_selection *selection, const struct log_name *name);

struct log_reader;

/* The texts of the selection are borrowed until log_reader_free. ERR_INVALID: the pattern is
 * invalid; ERR_NOT_FOUND: there is no such directory. */
int log_reader_new(const char *folder, const struct log_selection *selection,
		   struct log_reader **ret_reader, struct err *err) MUST_USE;
void log_reader_free(struct log_reader *reader); /* NULL is fine */
/* Includes output that the files could not take. Call it before the first line. `unsaved_output` is
 * borrowed until the reader is freed. */
void log_reader_show_unsaved_output(struct log_reader *reader,
				    struct unsaved_output *unsaved_output);
/* No more lines will be taken. */
void log_reader_give_up(struct log_reader *reader);

/* Lines with a later time are held back, since lines with an earlier time may still be missing. A
 * new reader holds nothing back (MSEC_NEVER). */
void log_reader_hold(struct log_reader *reader, msec later_than);

/* Call it when there may be more output, or logs of new attempts. */
void log_reader_poll(struct log_reader *reader);
/* Nothing more will be written: an unfinished last line counts as a line, too. */
void log_reader_end(struct log_reader *reader);

/* The next line; false when there is none for now. Its bytes are valid until the next call. */
bool log_reader_next(struct log_reader *reader, struct log_line *ret_line);

/* A replica that has logs. */
struct log_replica {
	struct log_name name; /* with the attempt that is being read */
	msec last_time; /* of its newest output, read or not; MSEC_UNSET: none */
	bool has_open_line; /* there is text after the last line feed … */
	struct log_line open_line; /* … this, as it is now */
};

/* The replicas that have logs, by role and index: `position` from 0 up; false after the last. */
bool log_reader_replica(struct log_reader *reader, size_t position,
			struct log_replica *ret_replica);

/* The last lines of one attempt's log, for the report of a failed job: oldest first, at most `most`
 * and each cut to LIMIT_LAST_LINE_LENGTH bytes; they live in the arena. A line without an end
 * counts. */
int log_last_lines(const char *folder, const char *role, int index, int attempt, size_t most,
		   struct arena *arena, struct printed *ret_printed, struct err *err) MUST_USE;

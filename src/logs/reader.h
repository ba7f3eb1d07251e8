/* The logs of a job read as one: lines of all replicas and attempts, merged by the time at which
 * they came, and followed as they grow.
 *
 * Lines of one replica keep their order, and those of an attempt come before those of the next.
 * Nothing here waits or watches: the reader calls log_reader_poll when there is news, and
 * then takes lines until there are none. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "logs/name.h"
#include "logs/stream.h"
#include "logs/unsaved_output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which lines are wanted. */
struct log_selection {
	const char *role; /* NULL: every role */
	int index; /* -1: every index */
	const struct log_name *replicas; /* these alone, whose attempts do not count … */
	size_t n_replicas; /* … if there are some */
	int attempt; /* -1: every attempt */
	bool is_previous; /* of each replica the attempt before its last one only */
	int64_t tail; /* the last so many lines of each replica; -1: all */
	msec since; /* lines that came then or later; MSEC_UNSET: all */
	const char
		*pattern; /* lines that match this POSIX extended regular expression; NULL: all */
	size_t line_limit; /* longer lines come in pieces of this size; 0: LIMIT_LOG_LINE */
};

/* Everything. */
#define LOG_SELECTION_ALL                                                                          \
	((struct log_selection){.index = -1, .attempt = -1, .tail = -1, .since = MSEC_UNSET})

/* Whether the selection is for this attempt of a replica. */
bool log_selection_has(const struct log_selection *selection, const struct log_name *name);

struct log_reader;

/* The texts of the selection are borrowed until log_reader_free. ERR_INVALID: the pattern is none;
 * ERR_NOT_FOUND: there is no such folder. */
int log_reader_new(const char *folder, const struct log_selection *selection,
		   struct log_reader **ret_reader, struct err *err) MUST_USE;
void log_reader_free(struct log_reader *reader); /* NULL is fine */
/* Gives what the files could not take as well, from before the first line on.
 * `unkept` is borrowed until the reader is freed. */
void log_reader_show_unsaved_output(struct log_reader *reader,
				    struct unsaved_output *unsaved_output);
/* Nobody takes lines any more. */
void log_reader_give_up(struct log_reader *reader);

/* Lines that came later are not given yet: others, which came before them, may not be there. A new
 * reader holds nothing back (MSEC_NEVER). */
void log_reader_hold(struct log_reader *reader, msec later_than);

/* There may be more output, or logs of new attempts. */
void log_reader_poll(struct log_reader *reader);
/* Nothing will be written any more: lines that were not ended are lines, too. */
void log_reader_end(struct log_reader *reader);

/* The next line; false when there is none for now. Its bytes stay until the next call. */
bool log_reader_next(struct log_reader *reader, struct log_line *ret_line);

/* A replica that has logs. */
struct log_replica {
	struct log_name name; /* with the attempt that is read now */
	msec last_time; /* of its newest output, read or not; MSEC_UNSET: none */
	bool has_open_line; /* behind the last line feed something stands … */
	struct log_line open_line; /* … this, as it looks now */
};

/* The replicas that have logs, by role and index: `position` from 0 up; false behind the last. */
bool log_reader_replica(struct log_reader *reader, size_t position,
			struct log_replica *ret_replica);

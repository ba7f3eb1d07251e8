/* Keeps the output of one attempt of a replica: a raw file, and a small index of offset and time
 * beside it.
 *
 * Files lie in the job's log folder as ROLE-INDEX.ATTEMPT.log and ROLE-INDEX.ATTEMPT.index; every
 * byte is kept as it came. Readers (the terminal, `logs`) follow the files, so no reader can hold
 * the writer up. A full disk never stops a replica: the output goes on being taken, what could not
 * be kept is counted and told once, and a line in the log says so as soon as writing works again.
 *
 * The log of an attempt is closed before that of the replica's next attempt is opened: a reader
 * goes over to the next one when it has all of a closed log. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "logs/unsaved_output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_writer;
struct output_copies; /* logs/output_copies.h */

/* Makes the folder where it is missing. `rotate_at`: size at which the file is renamed to ….log.1
 * and started again (one old one is kept). A log that is there already is continued. */
int log_writer_open(const char *folder, const char *role, int index, int attempt, int64_t rotate_at,
		    struct log_writer **ret_writer, struct err *err) MUST_USE;
/* Removes what is there of a log, for one that will be written anew as a whole. */
void log_writer_remove(const char *folder, const char *role, int index, int attempt);
/* Where output goes that cannot be kept, so that it is shown all the same.
 * Borrowed. */
void log_writer_set_unsaved_output(struct log_writer *writer,
				   struct unsaved_output *unsaved_output);
/* Begins a copy of what is added from now on. NULL: there are none. Borrowed. */
void log_writer_begin_copy(struct log_writer *writer, struct output_copies *copies);
/* False while much cannot be kept that was not shown so far: a caller that may wait
 * adds no more. */
bool log_writer_has_room(const struct log_writer *writer);
const char *log_writer_path(const struct log_writer *writer);
/* Appends. ERR_SPACE or ERR_IO once, when keeping begins to fail; 0 again while it goes on failing,
 * and when it works again. `now` is the wall clock; where it goes back, the last time is kept. */
int log_writer_add(struct log_writer *writer, const char *bytes, size_t len, msec now,
		   struct err *err);
/* Marks the log as complete and closes it; NULL is fine. */
void log_writer_close(struct log_writer *writer);

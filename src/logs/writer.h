/* Stores the output of one attempt of a replica: a raw file, and a small index of offsets and
 * times.
 *
 * The files are ROLE-INDEX.ATTEMPT.log and ROLE-INDEX.ATTEMPT.index in the job's log directory;
 * every byte is stored as it came. Readers (the terminal, `logs`) follow the files, so no reader
 * can block the writer. A full disk never stops a replica: its output is still read, lost bytes are
 * counted and reported once, and a line in the log says so as soon as writing works again. The log
 * of an attempt is closed before that of the replica's next attempt is opened: a reader continues
 * with the next one after the end of a closed log. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "logs/folder.h"
#include "logs/unsaved_output.h"

struct log_writer;
struct output_copies; /* logs/output_copies.h */

/* Creates the directory if missing. `rotate_at`: size at which the file is renamed to ….log.1 and a
 * new one started (one old file is kept). An existing log is continued. */
int log_writer_open(const char *folder, const struct log_name *name, int64_t rotate_at,
		    struct log_writer **ret_writer, struct err *err) MUST_USE;
/* Deletes an existing log, because it will be written again as a whole. */
void log_writer_remove(const char *folder, const struct log_name *name);
/* Sets where output goes that cannot be stored, so that it is shown all the same. Borrowed. */
void log_writer_set_unsaved_output(struct log_writer *writer,
				   struct unsaved_output *unsaved_output);
/* Starts a copy of what is added from now on. NULL: no copies. Borrowed. */
void log_writer_begin_copy(struct log_writer *writer, struct output_copies *copies);
/* False while much unsaved output has not been shown yet: a caller that can wait adds no more. */
bool log_writer_has_room(const struct log_writer *writer);
const char *log_writer_path(const struct log_writer *writer);
/* Appends. ERR_SPACE or ERR_IO once, when writing starts to fail; 0 while it keeps failing, and
 * when it works again. `now` is the wall clock; if it goes back, the last time is used. */
int log_writer_add(struct log_writer *writer, const char *bytes, size_t len, msec now,
		   struct err *err);
/* Marks the log as complete and closes it; NULL is fine. */
void log_writer_close(struct log_writer *writer);

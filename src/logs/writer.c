#include "logs/writer.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"
#include "logs/index.h"
#include "logs/output_copies.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/* The least time in milliseconds between two index records. A replica that prints without pause
 * costs 200 small writes a second, and lines of two replicas merge in their order. */
#define RECORD_SPACING ((msec) 5)
/* How often writing to a full disk is tried again. */
#define RETRY_SPACING MSEC_PER_SECOND
/* A longer line does not wait for its end. */
#define LONGEST_LINE ((size_t) 64 * 1024)
#define NOTE_SIZE 128
#define MOST_REPLACED 1024 /* bytes at the end of a log for which a note may stand */

struct log_writer {
	struct log_name name;
	struct unsaved_output *unsaved_output; /* NULL: unsaved output is not shown */
	struct output_copy *copy; /* NULL: no copy */
	struct text line; /* started while writing failed: goes to the same place as its end */
	bool is_failing;
	char *paths[LOG_FILE_COUNT];
	int fd; /* -1: could not be opened (again) so far */
	int index_fd;
	int64_t rotate_at;
	int64_t base; /* offset in the whole output at which the file begins */
	int64_t size; /* of the file */
	char last_byte;
	msec last_time; /* of the newest index record */
	uint64_t lost; /* bytes lost since the failure began */
	int failure; /* errno of the first failure */
	msec retry_at;
};

/* Opens both files; 0 or errno. */
static int open_files(struct log_writer *writer)
{
	const int flags = O_RDWR | O_CREAT | O_APPEND;
	int index_fd CLEANUP(file_close) = file_open_regular(writer->paths[LOG_FILE_INDEX], flags);

	if (index_fd < 0)
		return errno;
	int fd CLEANUP(file_close) = file_open_regular(writer->paths[LOG_FILE_TEXT], flags);
	struct log_record first;
	struct stat found;

	if (fd < 0 || fstat(fd, &found) != 0)
		return errno;
	writer->size = found.st_size;
	writer->index_fd = index_fd;
	writer->fd = fd;
	index_fd = -1;
	fd = -1;
	if (log_index_read(writer->index_fd, 0, &first))
		writer->base = first.offset;
	return 0;
}

static void close_files(struct log_writer *writer)
{
	file_close(&writer->fd);
	file_close(&writer->index_fd);
}

static void free_writer(struct log_writer *writer)
{
	close_files(writer);
	for (size_t i = 0; i < LOG_FILE_COUNT; i++)
		mem_free_text(&writer->paths[i]);
	text_done(&writer->line);
	output_copy_close(writer->copy);
	mem_free_any(&writer);
}

int log_writer_open(const char *folder, const struct log_name *name, int64_t rotate_at,
		    struct log_writer **ret_writer, struct err *err)
{
	int rc = folder_create(folder, err);

	if (rc)
		return rc;
	struct log_writer *writer = mem_new(sizeof(*writer));

	*writer = (struct log_writer){
		.name = *name, .fd = -1, .index_fd = -1, .rotate_at = rotate_at};
	for (enum log_file file = 0; file < LOG_FILE_COUNT; file++)
		writer->paths[file] = log_name_path(folder, name, file);
	int failure = open_files(writer);

	if (failure) {
		rc = err_set_errno(err, failure, "cannot write log '%s'",
				   writer->paths[LOG_FILE_TEXT]);
		free_writer(writer);
		return rc;
	}
	*ret_writer = writer;
	return 0;
}

void log_writer_remove(const char *folder, const struct log_name *name)
{
	for (enum log_file file = 0; file < LOG_FILE_COUNT; file++) {
		char *path CLEANUP(mem_free_text) = log_name_path(folder, name, file);

		unlink(path);
	}
}

void log_writer_set_unsaved_output(struct log_writer *writer, struct unsaved_output *unsaved_output)
{
	writer->unsaved_output = unsaved_output;
}

void log_writer_begin_copy(struct log_writer *writer, struct output_copies *copies)
{
	writer->copy = output_copies_open(copies, &writer->name);
}

const char *log_writer_path(const struct log_writer *writer)
{
	return writer->paths[LOG_FILE_TEXT];
}

/* Renames the full file and its index, and creates new ones; 0 or errno. If the new ones cannot be
 * created, the next call tries again; a file that cannot be renamed keeps growing. */
static int rotate(struct log_writer *writer)
{
	const char *const *paths = (const char *const *) writer->paths;

	if (rename(paths[LOG_FILE_TEXT], paths[LOG_FILE_OLD_TEXT]) != 0) {
		writer->rotate_at *= 2;
		return 0;
	}
	if (rename(paths[LOG_FILE_INDEX], paths[LOG_FILE_OLD_INDEX]) != 0)
		unlink(paths[LOG_FILE_INDEX]); /* it is not about the new file */
	close_files(writer);
	writer->base += writer->size;
	writer->size = 0;
	return open_files(writer);
}

/* Writes the time of the following bytes if one is due. If the index cannot be written, times get
 * less precise, but no output is lost. */
static void write_log_time(struct log_writer *writer, msec now)
{
	bool is_first = writer->size == 0;

	if (!is_first && now < writer->last_time + RECORD_SPACING)
		return;
	struct log_record record = {
		.offset = writer->base + writer->size,
		.time = now > writer->last_time ? now : writer->last_time,
	};

	if (log_index_add(writer->index_fd, &record) == 0)
		writer->last_time = record.time;
}

/* Appends to the file; 0 or errno, and how many bytes were written. */
static int append_to_log_file(struct log_writer *writer, const char *bytes, size_t len,
			      size_t *ret_written)
{
	int failure = file_write_all(writer->fd, bytes, len, ret_written);

	writer->size += (int64_t) *ret_written;
	if (*ret_written > 0)
		writer->last_byte = bytes[*ret_written - 1];
	return failure;
}

/* "muster: 4711 bytes of output were not saved (no space left on device)" */
static size_t write_note_of_loss(const struct log_writer *writer, bool is_line_open,
				 char note[NOTE_SIZE])
{
	const char *reason = strerror(writer->failure);

	return (size_t) snprintf(
		note, NOTE_SIZE, "%smuster: %" PRIu64 " bytes of output were not saved (%c%.40s)\n",
		is_line_open ? "\n" : "", writer->lost, tolower(reason[0]), reason + 1);
}

/* Writes into the log what is missing at this place. Complete or not at all: 0 or errno. */
static int append_note_of_loss(struct log_writer *writer)
{
	char note[NOTE_SIZE];
	size_t len =
		write_note_of_loss(writer, writer->size > 0 && writer->last_byte != '\n', note);
	int64_t size = writer->size;
	char last_byte = writer->last_byte;
	size_t written;
	int failure = append_to_log_file(writer, note, len, &written);

	if (!failure) {
		writer->lost = 0;
	} else if (ftruncate(writer->fd, size) == 0) {
		writer->size = size;
		writer->last_byte = last_byte;
	}
	return failure;
}

/* Output that the file does not take. Lines stay complete: a started line waits for its end, which
 * the file may take. */

/* NULL: it is not shown. */
static struct unsaved_attempt_output *shown_output(const struct log_writer *writer)
{
	return writer->unsaved_output && unsaved_output_is_shown(writer->unsaved_output)
		       ? unsaved_output_create(writer->unsaved_output, &writer->name)
		       : NULL;
}

/* Moves the first bytes of the started text to the terminal; the log will miss them. */
static void move_unsaved_to_terminal(struct log_writer *writer, size_t len)
{
	struct unsaved_attempt_output *output = shown_output(writer);

	if (output)
		unsaved_output_add(output, text_of(&writer->line), len);
	writer->lost += len;
	text_remove_beginning(&writer->line, len);
}

/* If it is shown, lines stay complete, and a line that is too long counts as such. */
static void handle_log_output_lost(struct log_writer *writer, const char *bytes, size_t len)
{
	struct text *line = &writer->line;

	text_add_bytes(line, bytes, len);
	const char *end = line->len ? memrchr(line->bytes, '\n', line->len) : NULL;

	if (!shown_output(writer) || (!end && line->len >= LONGEST_LINE))
		move_unsaved_to_terminal(writer, line->len);
	else
		move_unsaved_to_terminal(writer, end ? (size_t) (end - line->bytes) + 1 : 0);
}

bool log_writer_has_room(const struct log_writer *writer)
{
	const struct unsaved_attempt_output *output =
		writer->is_failing ? shown_output(writer) : NULL;

	return !output || unsaved_output_has_room(output);
}

/* All steps from `bytes` to the disk; 0 or errno, and how many bytes were written. */
static int write_log_output(struct log_writer *writer, const char *bytes, size_t len, msec now,
			    size_t *ret_written)
{
	int failure = 0;

	*ret_written = 0;
	if (writer->fd < 0)
		failure = open_files(writer);
	else if (writer->size > 0 && writer->size + (int64_t) len > writer->rotate_at)
		failure = rotate(writer);
	if (failure)
		return failure;
	write_log_time(writer, now);
	if (writer->lost > 0)
		failure = append_note_of_loss(writer);
	if (!failure && writer->line.len > 0) {
		failure = append_to_log_file(writer, text_of(&writer->line), writer->line.len,
					     ret_written);
		text_remove_beginning(&writer->line, *ret_written);
		*ret_written = 0;
	}
	return failure ? failure : append_to_log_file(writer, bytes, len, ret_written);
}

int log_writer_add(struct log_writer *writer, const char *bytes, size_t len, msec now,
		   struct err *err)
{
	bool was_failing = writer->is_failing;

	output_copy_add(writer->copy, bytes, len);
	/* The next bytes of the file follow all bytes that it did not take: those have to be shown
	 * first. */
	if (was_failing &&
	    (now < writer->retry_at || !unsaved_output_is_empty(shown_output(writer)))) {
		handle_log_output_lost(writer, bytes, len);
		return 0;
	}
	size_t written;
	int failure = write_log_output(writer, bytes, len, now, &written);

	writer->is_failing = failure != 0;
	if (!failure)
		return 0;
	writer->failure = failure;
	writer->retry_at = now + RETRY_SPACING;
	handle_log_output_lost(writer, bytes + written, len - written);
	if (was_failing)
		return 0;
	return err_set_errno(err, failure, "cannot save the output of '%s' for now",
			     writer->paths[LOG_FILE_TEXT]);
}

/* On a disk that is still full, the last lines of the file give their place to the note; blanks
 * fill it up, because the index has the offsets of those lines. */
static void replace_last_lines_by_note(struct log_writer *writer)
{
	char end[MOST_REPLACED], note[NOTE_SIZE];
	size_t len = writer->size < MOST_REPLACED ? (size_t) writer->size : MOST_REPLACED;
	off_t begin = (off_t) writer->size - (off_t) len;

	if (len < NOTE_SIZE || pread(writer->fd, end, len, begin) != (ssize_t) len)
		return;
	size_t at = len - NOTE_SIZE;

	/* Where a line begins that can give way to a note, with those after it; 0: a note may begin
	 * there, too, or it stands in the middle of a line. */
	while (at > 0 && end[at - 1] != '\n')
		at--;

	writer->lost += len - at;
	size_t note_len = write_note_of_loss(writer, begin > 0 && at == 0, note);

	memset(end + at, ' ', len - at);
	memcpy(end + at, note, note_len - 1);
	end[len - 1] = '\n';
	/* With O_APPEND, pwrite(2) appends. */
	if (fcntl(writer->fd, F_SETFL, 0) == 0)
		(void) !pwrite(writer->fd, end + at, len - at, begin + (off_t) at);
}

void log_writer_close(struct log_writer *writer)
{
	if (!writer)
		return;
	move_unsaved_to_terminal(writer, writer->line.len);
	if (writer->fd >= 0) {
		if (writer->lost > 0 && append_note_of_loss(writer))
			replace_last_lines_by_note(writer);
		struct log_record end = {writer->base + writer->size, LOG_TIME_CLOSED};

		log_index_add(writer->index_fd, &end);
	}
	free_writer(writer);
}

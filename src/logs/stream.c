#include "logs/stream.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "io/file.h"
#include "logs/drawing.h"
#include "logs/index.h"

/* A file of the log and its index. */
struct part {
	int fd; /* -1: there is none */
	int index_fd; /* -1: no times */
	ino_t inode;
	int64_t base; /* offset at which it begins */
};

struct log_attempt {
	char *paths[LOG_FILE_COUNT];
	struct part old; /* the rotated file */
	struct part current;
	struct log_cursor cursor; /* in the index of the part of `cursor_fd` */
	int64_t cursor_offset; /* the last requested one */
};

static const struct part no_part = {.fd = -1, .index_fd = -1};

static void close_part(struct part *part)
{
	file_close(&part->fd);
	file_close(&part->index_fd);
}

static int64_t part_end(const struct part *part)
{
	struct stat found;

	return part->base + (part->fd >= 0 && fstat(part->fd, &found) == 0 ? found.st_size : 0);
}

/* Opens a file and its index. If the index does not give the offset where the file begins, it is
 * `otherwise`. False if there is no such file. */
static bool open_part(const char *path, const char *index_path, int64_t otherwise,
		      struct part *ret_part)
{
	struct part part = {.fd = file_open_regular(path, O_RDONLY), .base = otherwise};
	struct stat found;
	struct log_record first;

	if (part.fd < 0)
		return false;
	if (fstat(part.fd, &found) == 0)
		part.inode = found.st_ino;
	part.index_fd = file_open_regular(index_path, O_RDONLY);
	if (part.index_fd >= 0 && log_index_read(part.index_fd, 0, &first))
		part.base = first.offset;
	*ret_part = part;
	return true;
}

static bool open_old(struct log_attempt *attempt)
{
	return open_part(attempt->paths[LOG_FILE_OLD_TEXT], attempt->paths[LOG_FILE_OLD_INDEX], 0,
			 &attempt->old);
}

static bool open_current(struct log_attempt *attempt)
{
	return open_part(attempt->paths[LOG_FILE_TEXT], attempt->paths[LOG_FILE_INDEX],
			 part_end(&attempt->old), &attempt->current);
}

int log_attempt_open(const char *folder, const struct log_name *name,
		     struct log_attempt **ret_attempt, struct err *err)
{
	struct log_attempt *attempt = mem_new(sizeof(*attempt));

	attempt->old = no_part;
	attempt->current = no_part;
	attempt->cursor.fd = -1;
	for (enum log_file file = 0; file < LOG_FILE_COUNT; file++)
		attempt->paths[file] = log_name_path(folder, name, file);
	bool has_old = open_old(attempt);

	if (!open_current(attempt) && !has_old) {
		int rc = errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "log '%s' not found",
						   attempt->paths[LOG_FILE_TEXT])
					 : err_set_errno(err, errno, "cannot read log '%s'",
							 attempt->paths[LOG_FILE_TEXT]);

		log_attempt_close(attempt);
		return rc;
	}
	*ret_attempt = attempt;
	return 0;
}

void log_attempt_close(struct log_attempt *attempt)
{
	if (!attempt)
		return;
	close_part(&attempt->old);
	close_part(&attempt->current);
	for (size_t i = 0; i < LOG_FILE_COUNT; i++)
		mem_free_text(&attempt->paths[i]);
	mem_free_any(&attempt);
}

int64_t log_attempt_begin(const struct log_attempt *attempt)
{
	return attempt->old.fd >= 0 ? attempt->old.base : attempt->current.base;
}

int64_t log_attempt_end(const struct log_attempt *attempt)
{
	return attempt->current.fd >= 0 ? part_end(&attempt->current) : part_end(&attempt->old);
}

/* True when the file was rotated: the former current file is the old part now. */
static bool follow_rotation(struct log_attempt *attempt)
{
	struct stat found;

	if (stat(attempt->paths[LOG_FILE_TEXT], &found) != 0 ||
	    found.st_ino == attempt->current.inode)
		return false;
	struct part last = attempt->current;
	struct part before_last = attempt->old;

	if (last.fd >= 0)
		attempt->old = last;
	if (!open_current(attempt)) {
		attempt->old = before_last;
		attempt->current = last;
		return false;
	}
	if (last.fd >= 0)
		close_part(&before_last);
	attempt->cursor.fd = -1;
	return true;
}

/* Two rotations behind: opens the part between the one that was read to its end and the current
 * one, or moves the offset over the deleted bytes. */
static void close_gap(struct log_attempt *attempt, int64_t *offset)
{
	close_part(&attempt->old);
	attempt->old = no_part;
	attempt->cursor.fd = -1;
	open_old(attempt);
	int64_t begin = attempt->old.base > *offset ? attempt->old.base : *offset;
	bool is_there = begin < part_end(&attempt->old) && begin < attempt->current.base;

	*offset = is_there ? begin : attempt->current.base;
}

size_t log_attempt_read(struct log_attempt *attempt, int64_t *offset, char *bytes, size_t len)
{
	for (;;) {
		bool is_current = attempt->current.fd >= 0 && *offset >= attempt->current.base;
		struct part *part = is_current ? &attempt->current : &attempt->old;

		if (*offset < part->base)
			*offset = part->base;
		size_t got = file_read_at(part->fd, bytes, len, *offset - part->base);

		if (got > 0)
			return got;
		if (is_current || attempt->current.fd < 0) {
			if (!follow_rotation(attempt))
				return 0;
		} else {
			close_gap(attempt, offset);
		}
	}
}

/* When the byte at `offset` was written; *ret_until as in log_cursor_time. */
static msec log_attempt_time(struct log_attempt *attempt, int64_t offset, int64_t *ret_until)
{
	bool is_current = attempt->current.fd >= 0 && offset >= attempt->current.base;
	int fd = is_current ? attempt->current.index_fd : attempt->old.index_fd;

	*ret_until = INT64_MAX;
	if (fd < 0)
		return MSEC_UNSET;
	if (fd != attempt->cursor.fd || offset < attempt->cursor_offset)
		log_cursor_begin(&attempt->cursor, fd, offset);
	attempt->cursor_offset = offset;
	return log_cursor_time(&attempt->cursor, offset, ret_until);
}

/* The index that is being written. */
static int newest_index(const struct log_attempt *attempt)
{
	return attempt->current.fd >= 0 ? attempt->current.index_fd : attempt->old.index_fd;
}

/* Offset of the first byte of a part written at `since` or later; the part's end if there is
 * none. */
static int64_t find_time(const struct part *part, msec since)
{
	struct log_record record;

	if (part->index_fd < 0)
		return part->base;
	int64_t position = log_index_find_time(part->index_fd, since - 1) + 1;

	return log_index_read(part->index_fd, position, &record) ? record.offset : part_end(part);
}

int64_t log_attempt_find_time(const struct log_attempt *attempt, msec since)
{
	if (attempt->old.fd >= 0) {
		int64_t offset = find_time(&attempt->old, since);

		if (offset < part_end(&attempt->old) || attempt->current.fd < 0)
			return offset;
	}
	return find_time(&attempt->current, since);
}

/* Most replicas print little: a buffer starts small and grows with the output. */
#define FIRST_CAPACITY 4096

struct log_stream {
	struct log_attempt *attempt;
	const struct unsaved_output *unsaved_output; /* NULL: only the files are read */
	struct log_name name; /* its key in unsaved_output */
	int64_t offset; /* of the next byte to read */
	size_t line_limit;
	char *buffer; /* NULL while it is empty */
	size_t capacity;
	size_t begin; /* of the line that was not given yet */
	size_t end; /* of the bytes read */
	size_t searched; /* up to here there is no line feed after `begin` */
	bool is_continuation; /* a piece of this line was already given */
	bool was_filled; /* the last read filled the buffer: a larger one is useful */
	msec time; /* of the bytes below `time_until` */
	int64_t time_until;
	struct drawing *drawing; /* NULL: lines are read as they are; else they go through it */
	bool may_draw; /* some bytes in the buffer begin an escape sequence */
	int64_t looked_at; /* offset after the unfinished line at the last poll */
};

struct log_stream *log_stream_new(struct log_attempt *take_attempt, int64_t offset,
				  size_t line_limit, const struct unsaved_output *unsaved_output,
				  const struct log_name *name)
{
	struct log_stream *stream = mem_new(sizeof(*stream));

	stream->attempt = take_attempt;
	stream->offset = offset;
	stream->line_limit = line_limit;
	stream->unsaved_output = unsaved_output;
	stream->name = *name;
	return stream;
}

void log_stream_free(struct log_stream *stream)
{
	if (!stream)
		return;
	log_attempt_close(stream->attempt);
	drawing_free(stream->drawing);
	mem_free_any(&stream->buffer);
	mem_free_any(&stream);
}

/* Times only increase and change rarely, so they are looked up when a line exceeds the last one's
 * range. */
static msec time_of(struct log_stream *stream, size_t place)
{
	/* In the whole output. */
	int64_t offset = stream->offset - (int64_t) (stream->end - place);

	if (offset >= stream->time_until)
		stream->time = log_attempt_time(stream->attempt, offset, &stream->time_until);
	return stream->time;
}

/* Moves what was not given yet to the front, and makes some room after it. False when one line
 * fills the largest buffer. */
static bool make_stream_room(struct log_stream *stream)
{
	if (stream->begin > 0) {
		memmove(stream->buffer, stream->buffer + stream->begin,
			stream->end - stream->begin);
		stream->end -= stream->begin;
		stream->searched -= stream->begin;
		stream->begin = 0;
	}
	if (stream->capacity >= stream->line_limit)
		return stream->end < stream->capacity;
	if (stream->end < stream->capacity && !stream->was_filled)
		return true;
	size_t capacity = stream->capacity ? stream->capacity * 4 : FIRST_CAPACITY;

	stream->capacity = capacity < stream->line_limit ? capacity : stream->line_limit;
	stream->buffer = mem_resize(stream->buffer, stream->capacity, 1);
	stream->was_filled = false;
	return true;
}

static struct unsaved_attempt_output *find_unkept(const struct log_stream *stream)
{
	return stream->unsaved_output ? unsaved_output_find(stream->unsaved_output, &stream->name)
				      : NULL;
}

/* Reads more; false when there is nothing more for now. */
static bool fill(struct log_stream *stream)
{
	int64_t offset = stream->offset;
	size_t got = log_attempt_read(stream->attempt, &offset, stream->buffer + stream->end,
				      stream->capacity - stream->end);

	stream->offset = offset + (int64_t) got;
	if (got == 0)
		got = unsaved_output_take(find_unkept(stream), stream->buffer + stream->end,
					  stream->capacity - stream->end);
	stream->may_draw = (stream->may_draw && stream->begin < stream->end) ||
			   memchr(stream->buffer + stream->end, DRAWING_ESCAPE, got);
	stream->end += got;
	stream->was_filled = stream->end == stream->capacity;
	stream->time_until = 0; /* there may be newer records, too */
	return got > 0;
}

static void set_line(struct log_stream *stream, size_t end, struct log_line *ret_line)
{
	*ret_line = (struct log_line){
		.bytes = stream->buffer + stream->begin,
		.len = end - stream->begin,
		.is_continuation = stream->is_continuation,
	};
}

/* Gives the line that ends at the line feed `end`. False if that only ends a line whose pieces were
 * given. */
static bool extract_log_line(struct log_stream *stream, size_t end, struct log_line *ret_line)
{
	set_line(stream, end, ret_line);
	ret_line->time = time_of(stream, end);
	ret_line->bytes = line_text_last_state(ret_line->bytes, &ret_line->len);
	stream->begin = stream->searched = end + 1;
	stream->is_continuation = false;
	return ret_line->len > 0 || !ret_line->is_continuation;
}

/* One line fills the buffer: overwritten text in it is dropped, else it is given as a piece. False
 * when dropping made room. */
static bool cut_long_line_piece(struct log_stream *stream, struct log_line *ret_line)
{
	size_t len = stream->end - stream->begin;
	const char *last = line_text_last_state(stream->buffer + stream->begin, &len);
	size_t dropped = (size_t) (last - (stream->buffer + stream->begin));

	if (dropped > 0) {
		stream->begin += dropped;
		return false;
	}
	len = line_text_whole_characters(stream->buffer + stream->begin, len);
	set_line(stream, stream->begin + len, ret_line);
	ret_line->time = time_of(stream, stream->begin + len - 1);
	stream->begin += len;
	stream->searched = stream->begin;
	stream->is_continuation = true;
	return true;
}

/* Passes the bytes up to `end` through the drawing, or begins one; false: there is none. */
static bool draw(struct log_stream *stream, size_t end)
{
	const char *bytes = stream->buffer + stream->begin;
	size_t len = end - stream->begin;

	if (len == 0 ||
	    (!stream->drawing && !(stream->may_draw && drawing_begins(bytes, len, NULL))))
		return stream->drawing != NULL;
	if (!stream->drawing)
		stream->drawing = drawing_new();
	stream->begin += drawing_add(stream->drawing, bytes, len, time_of(stream, end - 1));
	stream->searched = stream->begin;
	return true;
}

/* The next row that is drawn no more. */
static bool next_drawn(struct log_stream *stream, struct log_line *ret_line)
{
	if (stream->drawing && drawing_take(stream->drawing, false, ret_line))
		return true;
	if (stream->drawing && drawing_is_over(stream->drawing))
		drawing_free(TAKE(stream->drawing));
	return false;
}

bool log_stream_next(struct log_stream *stream, struct log_line *ret_line)
{
	for (;;) {
		if (next_drawn(stream, ret_line))
			return true;
		const char *line_feed = stream->searched < stream->end
						? memchr(stream->buffer + stream->searched, '\n',
							 stream->end - stream->searched)
						: NULL;

		if (line_feed) {
			size_t end = (size_t) (line_feed - stream->buffer);

			if (!draw(stream, end + 1) && extract_log_line(stream, end, ret_line))
				return true;
			continue;
		}
		size_t begin = stream->begin;

		if (draw(stream, stream->end) && stream->begin > begin)
			continue;
		stream->searched = stream->end;
		if (!make_stream_room(stream) && cut_long_line_piece(stream, ret_line))
			return true;
		if (make_stream_room(stream) && !fill(stream)) {
			if (stream->begin == stream->end) {
				mem_free_any(&stream->buffer);
				stream->buffer = NULL;
				stream->capacity = 0;
				stream->begin = stream->end = stream->searched = 0;
			}
			return false;
		}
	}
}

static void set_open_line(struct log_stream *stream, struct log_line *ret_line)
{
	set_line(stream, stream->end, ret_line);
	ret_line->time = time_of(stream, stream->end - 1);
	ret_line->bytes = line_text_last_state(ret_line->bytes, &ret_line->len);
	ret_line->is_bar = ret_line->len < stream->end - stream->begin;
}

bool log_stream_poll_open(struct log_stream *stream, struct log_line *ret_line)
{
	if (stream->drawing)
		return drawing_show(stream->drawing, ret_line);
	if (stream->begin == stream->end)
		return false;
	set_open_line(stream, ret_line);
	ret_line->is_quiet = stream->looked_at == stream->offset;
	stream->looked_at = stream->offset;
	return true;
}

bool log_stream_take_open(struct log_stream *stream, struct log_line *ret_line)
{
	if (stream->drawing)
		return drawing_take(stream->drawing, true, ret_line);
	if (stream->begin == stream->end)
		return false;
	set_open_line(stream, ret_line);
	stream->begin = stream->searched = stream->end;
	stream->is_continuation = false;
	return true;
}

bool log_stream_is_complete(const struct log_stream *stream)
{
	int fd = newest_index(stream->attempt);
	struct log_record last;

	return unsaved_output_is_empty(find_unkept(stream)) && fd >= 0 &&
	       log_index_read(fd, log_index_count(fd) - 1, &last) && last.time == LOG_TIME_CLOSED &&
	       last.offset <= stream->offset;
}

msec log_stream_last_time(const struct log_stream *stream)
{
	int fd = newest_index(stream->attempt);
	struct log_record record;

	for (int64_t i = fd >= 0 ? log_index_count(fd) : 0; i > 0; i--)
		if (log_index_read(fd, i - 1, &record) && record.time != LOG_TIME_CLOSED)
			return record.time;
	return MSEC_UNSET;
}

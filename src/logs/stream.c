#include "logs/stream.h"

#include "base/line_text.h"
#include "base/mem.h"

#include <string.h>

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
	int64_t looked_at; /* offset after the unfinished line at the last poll */
};

struct log_stream *log_stream_new(struct log_attempt *take_attempt, int64_t offset,
				  size_t line_limit)
{
	struct log_stream *stream = mem_new(sizeof(*stream));

	stream->attempt = take_attempt;
	stream->offset = offset;
	stream->line_limit = line_limit;
	return stream;
}

void log_stream_add_unsaved_output(struct log_stream *stream,
				   const struct unsaved_output *unsaved_output,
				   const struct log_name *name)
{
	stream->unsaved_output = unsaved_output;
	stream->name = *name;
}

void log_stream_free(struct log_stream *stream)
{
	if (!stream)
		return;
	log_attempt_close(stream->attempt);
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

bool log_stream_next(struct log_stream *stream, struct log_line *ret_line)
{
	for (;;) {
		const char *line_feed = stream->searched < stream->end
						? memchr(stream->buffer + stream->searched, '\n',
							 stream->end - stream->searched)
						: NULL;

		if (line_feed) {
			if (extract_log_line(stream, (size_t) (line_feed - stream->buffer),
					     ret_line))
				return true;
			continue;
		}
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
	if (stream->begin == stream->end)
		return false;
	set_open_line(stream, ret_line);
	ret_line->is_quiet = stream->looked_at == stream->offset;
	stream->looked_at = stream->offset;
	return true;
}

bool log_stream_take_open(struct log_stream *stream, struct log_line *ret_line)
{
	if (stream->begin == stream->end)
		return false;
	set_open_line(stream, ret_line);
	stream->begin = stream->searched = stream->end;
	stream->is_continuation = false;
	return true;
}

bool log_stream_is_complete(const struct log_stream *stream)
{
	return unsaved_output_is_empty(find_unkept(stream)) &&
	       log_attempt_is_complete(stream->attempt, stream->offset);
}

msec log_stream_last_time(const struct log_stream *stream)
{
	return log_attempt_last_time(stream->attempt);
}

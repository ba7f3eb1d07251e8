#include "engine/replica_output.h"

#include "base/mem.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* One read: all that a pipe holds by default. Larger pipes were no faster, and cost memory. */
#define CHUNK_SIZE (64 * 1024)
/* A pipe that gives less than this is left alone for a moment, so that more can collect … */
#define SMALL_CHUNK (32 * 1024)
/* … for this long, which no eye sees. Half a pipe of 64 KiB is more than a small chunk, so none
 * fills up meanwhile unless it gives over 3 MB/s, and then it does not rest again. */
#define REST ((msec) 10)
/* A pipe that is full after its rest may hold its replica up: it does not rest again while so much
 * comes in so much time, however small the pieces are. */
#define FAST_SIZE ((size_t) 512 * 1024)
#define FAST_TIME ((msec) 100)
/* Output after a longer silence is taken at once, and alone. */
#define SILENCE ((msec) 20)
/* What an ended replica may have left behind: the largest pipe that the kernel gives a user. */
#define LEFT_IN_PIPE (1024 * 1024)

struct output_reader {
	struct loop *loop;
	struct output_listener listener;
	struct loop_watch *rest_timer;
	struct replica_output *resting; /* list of those that are left alone for a moment */
	char *chunk;
};

struct replica_output {
	struct output_reader *reader;
	struct log_writer *log;
	struct loop_watch *watch; /* NULL: the pipe has ended */
	int fd;
	msec last;
	msec fast_since; /* MSEC_UNSET: it may rest */
	size_t fast_size; /* bytes since then */
	bool is_resting;
	struct replica_output *next_resting;
};

static void read_rested(void *data);

struct output_reader *output_reader_new(struct loop *loop, const struct output_listener *listener)
{
	struct output_reader *reader = mem_new(sizeof(*reader));

	reader->loop = loop;
	reader->listener = *listener;
	reader->rest_timer = loop_new_timer(loop, read_rested, reader);
	reader->chunk = mem_new(CHUNK_SIZE);
	return reader;
}

void output_reader_free(struct output_reader *reader)
{
	if (!reader)
		return;
	loop_watch_free(reader->rest_timer);
	free(reader->chunk);
	free(reader);
}

static void keep(struct replica_output *output, size_t len)
{
	const struct output_listener *listener = &output->reader->listener;
	struct err err;

	output->last = loop_now();
	if (output->log &&
	    log_writer_add(output->log, output->reader->chunk, len, output->last, &err) < 0)
		listener->on_trouble(err.text, listener->data);
	listener->on_output(listener->data);
}

static void close_pipe(struct replica_output *output)
{
	loop_watch_free(TAKE(output->watch));
	file_close(&output->fd);
}

/* Takes one chunk into the log, whatever is there; 0 when there is nothing now. */
static size_t take_chunk(struct replica_output *output)
{
	ssize_t len = read(output->fd, output->reader->chunk, CHUNK_SIZE);

	if (len > 0) {
		keep(output, (size_t) len);
		return (size_t) len;
	}
	if (len == 0 || (errno != EAGAIN && errno != EINTR))
		close_pipe(output);
	return 0;
}

static void rest(struct replica_output *output)
{
	struct output_reader *reader = output->reader;

	loop_watch_enable(output->watch, false);
	if (!reader->resting)
		loop_timer_arm(reader->rest_timer, loop_now() + REST);
	output->is_resting = true;
	output->next_resting = reader->resting;
	reader->resting = output;
}

static void begin_fast(struct replica_output *output)
{
	output->fast_since = output->last;
	output->fast_size = 0;
}

/* Whether a pipe that gave `len` bytes more is still too fast to rest. */
static bool is_fast(struct replica_output *output, size_t len)
{
	if (output->fast_since == MSEC_UNSET)
		return false;
	output->fast_size += len;
	if (output->last - output->fast_since < FAST_TIME)
		return true;
	if (output->fast_size >= FAST_SIZE) {
		begin_fast(output);
		return true;
	}
	output->fast_since = MSEC_UNSET;
	return false;
}

static void read_ready(void *data)
{
	struct replica_output *output = data;
	msec last = output->last;
	size_t len = take_chunk(output);

	if (is_fast(output, len))
		return;
	if (len > 0 && len < SMALL_CHUNK && output->last - last < SILENCE)
		rest(output);
}

/* The pipe decides again whether it is read: silent ones wait for the kernel's word, and those that
 * flow fast are read as fast as the loop turns. */
static void read_rested(void *data)
{
	struct output_reader *reader = data;
	struct replica_output *rested = TAKE(reader->resting);

	while (rested) {
		struct replica_output *output = rested;

		rested = output->next_resting;
		output->is_resting = false;
		size_t len = take_chunk(output);

		if (len == CHUNK_SIZE)
			begin_fast(output);
		if (len > 0 && len < SMALL_CHUNK)
			rest(output);
		else if (output->watch)
			loop_watch_enable(output->watch, true);
	}
}

struct replica_output *replica_output_new(struct output_reader *reader, int take_fd,
					  struct log_writer *take_log)
{
	struct replica_output *output = mem_new(sizeof(*output));

	fcntl(take_fd, F_SETFL, fcntl(take_fd, F_GETFL) | O_NONBLOCK);
	output->reader = reader;
	output->fd = take_fd;
	output->log = take_log;
	output->last = MSEC_UNSET;
	output->watch = loop_watch_readable(reader->loop, take_fd, read_ready, output);
	return output;
}

static void leave_resting(struct replica_output *output)
{
	struct replica_output **link = &output->reader->resting;

	while (output->is_resting && *link) {
		if (*link == output) {
			*link = output->next_resting;
			output->is_resting = false;
		} else {
			link = &(*link)->next_resting;
		}
	}
}

void replica_output_free(struct replica_output *output)
{
	if (!output)
		return;
	leave_resting(output);
	close_pipe(output);
	log_writer_close(output->log);
	free(output);
}

void replica_output_finish(struct replica_output *output)
{
	size_t taken = 0, len = 1;

	if (!output)
		return;
	while (output->watch && len > 0 && taken < LEFT_IN_PIPE) {
		len = take_chunk(output);
		taken += len;
	}
	replica_output_free(output);
}

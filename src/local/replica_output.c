#include "local/replica_output.h"

#include "base/mem.h"
#include "io/file.h"

#include <sys/queue.h>

/* Size of one read. Larger ones were no faster, and cost memory. */
#define CHUNK_SIZE (64 * 1024)
/* A pipe that gives less than half of its size is not read for this long, so that more can collect;
 * a user does not notice the delay. */
#define REST ((msec) 10)
/* A pipe that is full after its rest may block its replica. It does not rest again while so many
 * times its size arrives in so much time, however small the pieces are. */
#define FAST_PIPES ((size_t) 8)
#define FAST_TIME ((msec) 100)
/* Output after a longer silence is read immediately, and alone. */
#define SILENCE ((msec) 20)
/* When a program prints as fast as it can, a pipe of 64 KiB is full after a tenth of a rest, and
 * the program waits for us. So pipes are enlarged: up to a megabyte, the kernel's limit for a
 * user's pipe, and in all to a quarter of the kernel's limit for all pipes of a user. Beyond that
 * limit, new pipes of that user, in any program, would get a single page. */
#define LARGEST_PIPE ((size_t) 1024 * 1024)
#define USUAL_PIPE ((size_t) 64 * 1024)
/* A read of a terminal gives no more than this; behind it the kernel may keep 640 KiB. */
#define TERMINAL_READ ((size_t) 4096)
#define TERMINAL_ROOM ((size_t) 1024 * 1024)
#define PIPES_OF_USER "/proc/sys/fs/pipe-user-pages-soft"
#define USUAL_PIPES_OF_USER ((size_t) 64 * 1024 * 1024)
#define OUR_PART 4

TAILQ_HEAD(resting_list, replica_output);

struct output_reader {
	struct loop *loop;
	struct output_listener listener;
	struct loop_watch *rest_timer;
	struct resting_list resting; /* not read for a moment */
	char *chunk;
	bool has_told_trouble; /* once for all logs, which are on one disk */
	size_t room; /* for all pipes */
	size_t pipe_size; /* of the next pipe */
};

struct replica_output {
	struct output_reader *reader;
	struct log_writer *log;
	struct loop_watch *watch; /* NULL: the pipe has ended */
	int fd;
	size_t pipe_size;
	msec last;
	msec fast_since; /* MSEC_UNSET: it may rest */
	size_t fast_size; /* bytes since then */
	bool is_resting;
	TAILQ_ENTRY(replica_output) link; /* while it rests */
};

static void write_replica_output(struct replica_output *output, size_t len)
{
	const struct output_listener *listener = &output->reader->listener;
	struct err err;

	output->last = loop_now();
	if (output->log &&
	    log_writer_add(output->log, output->reader->chunk, len, output->last, &err) < 0 &&
	    !output->reader->has_told_trouble) {
		output->reader->has_told_trouble = true;
		listener->on_trouble(err.text, listener->data);
	}
	if (listener->on_output)
		listener->on_output(listener->data);
}

static void close_pipe(struct replica_output *output)
{
	loop_watch_free(TAKE(output->watch));
	file_close(&output->fd);
}

/* Copies one chunk into the log; 0 when the pipe is empty now. */
static size_t log_output_chunk(struct replica_output *output)
{
	ssize_t len = read(output->fd, output->reader->chunk, CHUNK_SIZE);

	if (len > 0) {
		write_replica_output(output, (size_t) len);
		return (size_t) len;
	}
	if (len == 0 || (errno != EAGAIN && errno != EINTR))
		close_pipe(output);
	return 0;
}

/* The disk is full and the terminal slow: the replica has to wait. */
static bool is_replica_output_held(const struct replica_output *output)
{
	return output->log && !log_writer_has_room(output->log);
}

/* Reads what the pipe contains now, and not what arrives meanwhile. */
static size_t read_replica_output(struct replica_output *output)
{
	size_t taken = 0, len;

	do {
		len = log_output_chunk(output);
		taken += len;
	} while (len == CHUNK_SIZE && taken < output->pipe_size && !is_replica_output_held(output));
	return taken;
}

static bool is_small(const struct replica_output *output, size_t len)
{
	return len > 0 && len < output->pipe_size / 2;
}

static void rest(struct replica_output *output)
{
	struct output_reader *reader = output->reader;

	loop_watch_enable(output->watch, false);
	if (TAILQ_EMPTY(&reader->resting))
		loop_timer_arm_after(reader->rest_timer, REST);
	output->is_resting = true;
	TAILQ_INSERT_TAIL(&reader->resting, output, link);
}

static void begin_fast(struct replica_output *output)
{
	output->fast_since = output->last;
	output->fast_size = 0;
}

/* Whether a pipe that gave another `len` bytes is still too fast to rest. */
static bool is_fast(struct replica_output *output, size_t len)
{
	if (output->fast_since == MSEC_UNSET)
		return false;
	output->fast_size += len;
	if (output->last - output->fast_since < FAST_TIME)
		return true;
	if (output->fast_size >= FAST_PIPES * output->pipe_size) {
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
	size_t len = read_replica_output(output);

	if (output->watch && is_replica_output_held(output))
		rest(output);
	if (output->is_resting || is_fast(output, len))
		return;
	if (is_small(output, len) && output->last - last < SILENCE)
		rest(output);
}

/* Chooses again how to read the pipe: silent ones wait for the kernel's event, fast ones are read
 * in every iteration of the loop. */
static void read_rested(void *data)
{
	struct output_reader *reader = data;
	struct resting_list rested = TAILQ_HEAD_INITIALIZER(rested);
	struct replica_output *output;

	TAILQ_CONCAT(&rested, &reader->resting, link);
	while ((output = TAILQ_FIRST(&rested))) {
		TAILQ_REMOVE(&rested, output, link);
		output->is_resting = false;
		size_t len = is_replica_output_held(output) ? 0 : read_replica_output(output);

		if (len >= output->pipe_size)
			begin_fast(output);
		if (is_small(output, len) || (output->watch && is_replica_output_held(output)))
			rest(output);
		else if (output->watch)
			loop_watch_enable(output->watch, true);
	}
}

struct output_reader *output_reader_new(struct loop *loop, const struct output_listener *listener)
{
	struct output_reader *reader = mem_new(sizeof(*reader));
	char *text CLEANUP(mem_free_text) = file_read_text(PIPES_OF_USER);
	size_t pages = text ? strtoul(text, NULL, 10) : 0;

	reader->loop = loop;
	reader->listener = *listener;
	TAILQ_INIT(&reader->resting);
	reader->rest_timer = loop_new_timer(loop, read_rested, reader);
	reader->chunk = mem_new(CHUNK_SIZE);
	reader->room =
		(pages ? pages * (size_t) sysconf(_SC_PAGESIZE) : USUAL_PIPES_OF_USER) / OUR_PART;
	output_reader_expect(reader, 1);
	return reader;
}

void output_reader_expect(struct output_reader *reader, size_t n_pipes)
{
	reader->pipe_size = LARGEST_PIPE;
	while (reader->pipe_size > USUAL_PIPE && reader->pipe_size * n_pipes > reader->room)
		reader->pipe_size /= 2;
}

void output_reader_free(struct output_reader *reader)
{
	if (!reader)
		return;
	loop_watch_free(reader->rest_timer);
	free(reader->chunk);
	free(reader);
}

struct replica_output *replica_output_new(struct output_reader *reader, int take_fd,
					  struct log_writer *take_log)
{
	struct replica_output *output = mem_new(sizeof(*output));

	fcntl(take_fd, F_SETFL, fcntl(take_fd, F_GETFL) | O_NONBLOCK);
	output->reader = reader;
	output->fd = take_fd;
	/* The kernel rejects it if the user's pipes are large already: then the size stays. */
	if (reader->pipe_size > USUAL_PIPE)
		fcntl(take_fd, F_SETPIPE_SZ, (int) reader->pipe_size);
	int size = fcntl(take_fd, F_GETPIPE_SZ);

	output->pipe_size = size > 0 ? (size_t) size : TERMINAL_READ;
	output->log = take_log;
	output->last = MSEC_UNSET;
	output->watch = loop_watch_readable(reader->loop, take_fd, read_ready, output);
	return output;
}

void replica_output_set_size(const struct replica_output *output, struct terminal_size size)
{
	if (output->watch)
		terminal_set_size(output->fd, size);
}

void replica_output_free(struct replica_output *output)
{
	if (!output)
		return;
	if (output->is_resting)
		TAILQ_REMOVE(&output->reader->resting, output, link);
	close_pipe(output);
	log_writer_close(output->log);
	free(output);
}

void replica_output_finish(struct replica_output *output)
{
	size_t taken = 0, len = 1;

	if (!output)
		return;
	size_t most = output->pipe_size == TERMINAL_READ ? TERMINAL_ROOM : output->pipe_size;

	while (output->watch && len > 0 && taken < most) {
		len = log_output_chunk(output);
		taken += len;
	}
	replica_output_free(output);
}

msec replica_output_last(const struct replica_output *output)
{
	return output->last ? output->last : MSEC_UNSET;
}

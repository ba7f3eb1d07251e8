/* Two pipes: one carries the stream, the other the result as a struct err. */
#include "archive/unpacker.h"

#include "base/mem.h"
#include "io/child.h"
#include "io/file.h"
#include "io/sink.h"

#include <assert.h>
#include <limits.h>

#define PIECE ((size_t) 64 * 1024)

struct unpacker {
	struct unpacker_settings settings; /* without the directory */
	pid_t pid;
	int stream_fd, result_fd;
	struct sink *stream; /* to the process; NULL: it gets no more */
	struct loop_watch *result;
	bool is_at_end; /* the bytes that wait in the sink are the last */
	bool was_full; /* the sender waits for room */
};

/* The unpacking process. */

struct result {
	struct archive_left_out left_out;
	struct err err;
};

static_assert(sizeof(struct result) < PIPE_BUF, "it is written in one piece");

struct source {
	int fd;
	char bytes[PIECE];
};

static int read_stream(const char **ret_bytes, size_t *ret_len, void *data, struct err *err)
{
	struct source *source = data;
	ssize_t len;

	do
		len = read(source->fd, source->bytes, sizeof(source->bytes));
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return err_set_errno(err, errno, "cannot read the tar stream");
	*ret_bytes = source->bytes;
	*ret_len = (size_t) len;
	return 0;
}

static NORETURN void unpack(const struct archive_functions *archive,
			    const struct unpacker_settings *settings, int stream_fd, int result_fd)
{
	static struct source source;
	struct result result = {0};

	source.fd = stream_fd;
	if (archive->unpack(read_stream, &source, settings->folder, &settings->limits,
			    &result.left_out, &result.err) == 0)
		result.err.code = 0;
	_exit(file_write_all(result_fd, &result, sizeof(result), NULL) ? EXIT_FAILURE
								       : EXIT_SUCCESS);
}

/* The process with the loop. */

static void close_stream(struct unpacker *unpacker)
{
	sink_free(TAKE(unpacker->stream));
	file_close(&unpacker->stream_fd);
}

static void release_unpacker(struct unpacker *unpacker)
{
	close_stream(unpacker);
	loop_watch_free(unpacker->result);
	file_close(&unpacker->result_fd);
	free(unpacker);
}

/* The unpacking process writes its whole result in one write (pipe(7): less than PIPE_BUF), or
 * dies. */
static void on_result(void *data)
{
	struct unpacker *unpacker = data;
	struct result result = {0};

	if (read(unpacker->result_fd, &result, sizeof(result)) != sizeof(result))
		err_set(&result.err, ERR_IO, "the process that unpacks was killed");
	child_end(unpacker->pid);
	unpacker->settings.on_end(&result.left_out, result.err.code ? &result.err : NULL,
				  unpacker->settings.data);
	release_unpacker(unpacker);
}

/* All was written, or the process wants no more bytes and will report why. */
static void on_stream_change(void *data)
{
	struct unpacker *unpacker = data;

	if (unpacker->is_at_end || sink_is_gone(unpacker->stream)) {
		close_stream(unpacker);
	} else if (unpacker->was_full) {
		unpacker->was_full = false;
		unpacker->settings.on_room(unpacker->settings.data);
	}
}

static int start_unpacker_process(struct unpacker *unpacker, struct err *err)
{
	int stream[2] = {-1, -1}, result[2] = {-1, -1};
	const struct archive_functions *archive = archive_open(err);

	if (!archive)
		return ERR_NOT_FOUND;
	if (pipe2(stream, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0) {
		file_close(&stream[0]);
		file_close(&stream[1]);
		return err_set_errno(err, errno, "cannot create a pipe");
	}
	unpacker->pid = child_fork();
	if (unpacker->pid == 0) {
		file_close(&stream[1]);
		file_close(&result[0]);
		unpack(archive, &unpacker->settings, stream[0], result[1]);
	}
	int failure = unpacker->pid < 0 ? errno : 0;

	file_close(&stream[0]);
	file_close(&result[1]);
	unpacker->stream_fd = stream[1];
	unpacker->result_fd = result[0];
	return failure ? err_set_errno(err, failure, "cannot start a process that unpacks") : 0;
}

int unpacker_new(const struct unpacker_settings *settings, struct unpacker **ret_unpacker,
		 struct err *err)
{
	struct unpacker *unpacker = mem_new(sizeof(*unpacker));

	unpacker->settings = *settings;
	unpacker->stream_fd = unpacker->result_fd = -1;
	int rc = start_unpacker_process(unpacker, err);

	if (rc < 0) {
		release_unpacker(unpacker);
		return rc;
	}
	unpacker->stream =
		sink_new(settings->loop, unpacker->stream_fd, on_stream_change, unpacker);
	unpacker->result =
		loop_watch_readable(settings->loop, unpacker->result_fd, on_result, unpacker);
	*ret_unpacker = unpacker;
	return 0;
}

void unpacker_cancel(struct unpacker *unpacker)
{
	if (!unpacker)
		return;
	child_end(unpacker->pid);
	release_unpacker(unpacker);
}

void unpacker_take(struct unpacker *unpacker, const char *bytes, size_t len)
{
	if (!unpacker->stream)
		return; /* the process failed, and will report it */
	text_add_bytes(sink_text(unpacker->stream), bytes, len);
	if (unpacker->was_full) /* else the end of its waiting would not be reported */
		return;
	sink_flush(unpacker->stream);
	unpacker->was_full = !unpacker_has_room(unpacker);
}

bool unpacker_has_room(const struct unpacker *unpacker)
{
	return !unpacker->stream || sink_text(unpacker->stream)->len < UNPACKER_ROOM;
}

void unpacker_end_input(struct unpacker *unpacker)
{
	unpacker->is_at_end = true;
	if (unpacker->stream && !sink_is_waiting(unpacker->stream))
		close_stream(unpacker);
}

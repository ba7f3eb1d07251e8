/* Two pipes: one carries the stream, the other the result as a struct err. */
#include "archive/unpacker.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/child.h"
#include "io/file.h"

#include <assert.h>
#include <limits.h>

#define PIECE ((size_t) 64 * 1024)

struct unpacker {
	struct unpacker_settings settings; /* without the directory */
	pid_t pid;
	int stream_fd, result_fd;
	struct loop_watch *stream, *result;
	struct text waiting;
	size_t sent; /* of the waiting bytes */
	bool is_at_end; /* the waiting bytes are the last */
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

static void release_unpacker(struct unpacker *unpacker)
{
	loop_watch_free(unpacker->stream);
	loop_watch_free(unpacker->result);
	file_close(&unpacker->stream_fd);
	file_close(&unpacker->result_fd);
	text_done(&unpacker->waiting);
	free(unpacker);
}

static void close_stream(struct unpacker *unpacker)
{
	loop_watch_free(TAKE(unpacker->stream));
	file_close(&unpacker->stream_fd);
	text_clear(&unpacker->waiting);
	unpacker->sent = 0;
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

static void on_writable(void *data)
{
	struct unpacker *unpacker = data;
	ssize_t len = write(unpacker->stream_fd, unpacker->waiting.bytes + unpacker->sent,
			    unpacker->waiting.len - unpacker->sent);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len < 0) { /* the process wants no more bytes, and will report why */
		close_stream(unpacker);
		return;
	}
	unpacker->sent += (size_t) len;
	if (unpacker->sent < unpacker->waiting.len)
		return;
	text_clear(&unpacker->waiting);
	unpacker->sent = 0;
	loop_watch_enable(unpacker->stream, false);
	if (unpacker->is_at_end) {
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

	if (rc == 0 && fcntl(unpacker->stream_fd, F_SETFL, O_NONBLOCK) < 0)
		rc = err_set_errno(err, errno, "cannot prepare a pipe");
	if (rc < 0) {
		release_unpacker(unpacker);
		return rc;
	}
	unpacker->stream =
		loop_watch_writable(settings->loop, unpacker->stream_fd, on_writable, unpacker);
	loop_watch_enable(unpacker->stream, false);
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
	text_add_bytes(&unpacker->waiting, bytes, len);
	unpacker->was_full |= !unpacker_has_room(unpacker);
	loop_watch_enable(unpacker->stream, true);
}

bool unpacker_has_room(const struct unpacker *unpacker)
{
	return unpacker->waiting.len - unpacker->sent < UNPACKER_ROOM;
}

void unpacker_end_input(struct unpacker *unpacker)
{
	unpacker->is_at_end = true;
	if (unpacker->stream && unpacker->sent == unpacker->waiting.len)
		close_stream(unpacker);
}

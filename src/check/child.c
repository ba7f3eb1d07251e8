#include "check/child.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/child.h"
#include "io/file.h"
#include "spec/limits.h"

#include <signal.h>

#define CHUNK_SIZE (16 * 1024)
/* A name and the separator before the line. */
#define LINE_MOST (LIMIT_LOG_LINE + 128)
/* What an ended child may have left unread: the largest pipe that the kernel allows a user. */
#define LEFT_IN_PIPE (1024 * 1024)

struct check_child {
	struct check_child_settings settings;
	pid_t pid;
	int fd;
	struct loop_watch *watch; /* NULL: the pipe has ended */
	struct text line; /* the incomplete last line */
	instant kill_at; /* INSTANT_NEVER: not asked to end, or killed */
};

static void forward_child_line(struct check_child *child)
{
	if (child->line.len > 0)
		child->settings.on_line(child->line.bytes, child->line.len, child->settings.data);
	text_clear(&child->line);
}

static void split_lines(struct check_child *child, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t part = end ? (size_t) (end - bytes) : len,
		       room = LINE_MOST - child->line.len;

		text_add_bytes(&child->line, bytes, part < room ? part : room);
		if (!end)
			return;
		forward_child_line(child);
		bytes = end + 1;
		len -= part + 1;
	}
}

static void close_pipe(struct check_child *child)
{
	loop_watch_free(TAKE(child->watch));
	file_close(&child->fd);
}

/* Takes one chunk; 0: nothing available now. */
static size_t read_chunk(struct check_child *child)
{
	char chunk[CHUNK_SIZE];
	ssize_t len = read(child->fd, chunk, sizeof(chunk));

	if (len > 0) {
		split_lines(child, chunk, (size_t) len);
		return (size_t) len;
	}
	if (len == 0 || (errno != EAGAIN && errno != EINTR))
		close_pipe(child);
	return 0;
}

static void on_check_child_readable(void *data)
{
	read_chunk(data);
}

int check_child_start(const struct check_child_settings *settings, struct check_child **ret_child,
		      struct err *err)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot create a pipe");
	const struct child_start start = {
		.program = settings->arguments[0],
		.arguments = settings->arguments,
		.environment = settings->environment,
		.output_fd = fds[1],
	};
	int rc = child_start(&start, &pid, err);

	close(fds[1]);
	if (rc < 0) {
		close(fds[0]);
		return rc;
	}
	struct check_child *child = *ret_child = mem_new(sizeof(*child));

	fcntl(fds[0], F_SETFL, fcntl(fds[0], F_GETFL) | O_NONBLOCK);
	*child = (struct check_child){
		.settings = *settings, .pid = pid, .fd = fds[0], .kill_at = INSTANT_NEVER};
	child->watch = loop_watch_readable(settings->loop, fds[0], on_check_child_readable, child);
	return 0;
}

pid_t check_child_pid(const struct check_child *child)
{
	return child->pid;
}

void check_child_terminate(struct check_child *child, instant now)
{
	child->kill_at = instant_add(now, child->settings.patience);
	child_signal_group(child->pid, SIGTERM);
}

instant check_child_escalate_signal(struct check_child *child, instant now)
{
	if (!instant_has_come(child->kill_at, now))
		return child->kill_at;
	child_signal_group(child->pid, SIGKILL);
	return child->kill_at = INSTANT_NEVER;
}

void check_child_finish(struct check_child *child)
{
	size_t taken = 0, len = 1;

	if (!child)
		return;
	while (child->watch && len > 0 && taken < LEFT_IN_PIPE) {
		len = read_chunk(child);
		taken += len;
	}
	forward_child_line(child);
	close_pipe(child);
	text_done(&child->line);
	mem_free_any(&child);
}

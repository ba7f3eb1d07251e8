#include "io/sink.h"

#include "base/mem.h"
#include "io/file.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

/* How to write to a descriptor without waiting. */
enum way {
	WAY_DIRECT, /* files and similar ones, which never block */
	WAY_NONBLOCKING, /* our own open description, which returns EAGAIN */
	WAY_SOCKET, /* each call has a flag not to wait */
	WAY_CAREFUL, /* it could not be opened again: little at a time, when poll says that it
			fits */
};

/* A pipe that poll calls writable accepts this many bytes without waiting (pipe(7)). */
#define CAREFUL_SIZE PIPE_BUF

struct sink {
	struct loop *loop;
	enum way way;
	int fd;
	bool owns_fd;
	struct text text;
	size_t n_sent; /* of text, already written */
	int failure;
	loop_fn on_change;
	void *data;
	struct loop_watch *writable;
	struct loop_watch *hangup; /* of a pipe: called when the last reader has closed it; or
				      NULL */
	struct loop_watch *failed; /* reports a write that failed immediately; NULL: none did */
};

struct text *sink_text(struct sink *sink)
{
	return &sink->text;
}

/* One write; bytes written or -1 with errno. */
static ssize_t write_some(const struct sink *sink)
{
	const char *bytes = sink->text.bytes + sink->n_sent;
	size_t len = sink->text.len - sink->n_sent;
	struct pollfd asked = {.fd = sink->fd, .events = POLLOUT};

	switch (sink->way) {
	case WAY_SOCKET:
		return send(sink->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	case WAY_CAREFUL:
		if (poll(&asked, 1, 0) <= 0) {
			errno = EAGAIN;
			return -1;
		}
		return write(sink->fd, bytes, len < CAREFUL_SIZE ? len : CAREFUL_SIZE);
	case WAY_DIRECT:
	case WAY_NONBLOCKING:
		break;
	}
	return write(sink->fd, bytes, len);
}

static void drop_everything(struct sink *sink)
{
	text_clear(&sink->text);
	sink->n_sent = 0;
}

static void end_with(struct sink *sink, int failure)
{
	sink->failure = failure;
	drop_everything(sink);
	if (sink->writable)
		loop_watch_enable(sink->writable, false);
	if (sink->hangup)
		loop_watch_enable(sink->hangup, false);
}

/* Writes until all was accepted or the descriptor accepts no more for now. */
static void write_what_fits(struct sink *sink)
{
	while (sink->n_sent < sink->text.len) {
		ssize_t n = write_some(sink);

		if (n >= 0)
			sink->n_sent += (size_t) n;
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR)
			end_with(sink, errno);
	}
	drop_everything(sink);
}

static void on_failed(void *data)
{
	struct sink *sink = data;

	if (sink->on_change)
		sink->on_change(sink->data);
}

void sink_flush(struct sink *sink)
{
	if (sink->failure) {
		drop_everything(sink);
		return;
	}
	write_what_fits(sink);
	if (sink->failure) {
		sink->failed = loop_new_timer(sink->loop, on_failed, sink);
		loop_timer_arm_after(sink->failed, 0);
	} else if (sink->writable) {
		loop_watch_enable(sink->writable, sink_is_waiting(sink));
	}
}

static void on_writable(void *data)
{
	struct sink *sink = data;

	write_what_fits(sink);
	if (sink_is_waiting(sink))
		return;
	if (!sink->failure)
		loop_watch_enable(sink->writable, false);
	if (sink->on_change)
		sink->on_change(sink->data);
}

static void on_hangup(void *data)
{
	struct sink *sink = data;

	end_with(sink, EPIPE);
	on_failed(sink);
}

static void choose_way(struct sink *sink, int fd)
{
	struct stat found = {0};
	char path[40];

	sink->fd = fd;
	sink->way = WAY_DIRECT;
	fstat(fd, &found);
	if (S_ISSOCK(found.st_mode))
		sink->way = WAY_SOCKET;
	if (!S_ISFIFO(found.st_mode) && !isatty(fd))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	sink->way = own_fd >= 0 ? WAY_NONBLOCKING : WAY_CAREFUL;
	sink->owns_fd = own_fd >= 0;
	if (own_fd >= 0)
		sink->fd = own_fd;
	else if (errno == ENXIO)
		sink->failure = EPIPE; /* a pipe without a reader */
}

struct sink *sink_new(struct loop *loop, int fd, loop_fn on_change, void *data)
{
	struct sink *sink = mem_new(sizeof(*sink));
	struct stat found = {0};

	signal(SIGPIPE, SIG_IGN);
	choose_way(sink, fd);
	sink->loop = loop;
	sink->on_change = on_change;
	sink->data = data;
	if (sink->way != WAY_DIRECT) {
		sink->writable = loop_watch_writable(loop, sink->fd, on_writable, sink);
		loop_watch_enable(sink->writable, false);
	}
	/* The writing end of a pipe is never readable: this wakes on the error alone. */
	if (sink->owns_fd && fstat(sink->fd, &found) == 0 && S_ISFIFO(found.st_mode))
		sink->hangup = loop_watch_readable(loop, sink->fd, on_hangup, sink);
	return sink;
}

void sink_free(struct sink *sink)
{
	if (!sink)
		return;
	loop_watch_free(sink->writable);
	loop_watch_free(sink->hangup);
	loop_watch_free(sink->failed);
	if (sink->owns_fd)
		file_close(&sink->fd);
	text_done(&sink->text);
	mem_free_any(&sink);
}

bool sink_is_waiting(const struct sink *sink)
{
	return sink->n_sent < sink->text.len;
}

bool sink_is_gone(const struct sink *sink)
{
	return sink->failure != 0;
}

int sink_failure(const struct sink *sink)
{
	return sink->failure;
}

bool sink_is_same(int fd, int other_fd)
{
	struct stat found, other;

	return fd == other_fd || (fstat(fd, &found) == 0 && fstat(other_fd, &other) == 0 &&
				  found.st_dev == other.st_dev && found.st_ino == other.st_ino);
}

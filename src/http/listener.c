#include "http/listener.h"

#include "base/mem.h"
#include "http/listening.h"
#include "io/file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Longest extra delay of a client after descriptors are free again. */
#define DEFAULT_PAUSE MSEC_PER_SECOND

struct listener {
	struct listener_request request; /* the callbacks */
	int fd;
	int port;
	struct loop_watch *watch;
	struct loop_watch *pause; /* until the next try to accept */
	bool is_in_trouble;
};

/* Failures of accept(2) that are about one closed connection or its network do not last. */
static bool is_lasting(int failure)
{
	return failure == EMFILE || failure == ENFILE || failure == ENOBUFS || failure == ENOMEM;
}

/* Stops listening for a while: the connection is still pending, so the loop would spin. */
static void rest(struct listener *listener, int failure)
{
	msec pause = listener->request.pause ? listener->request.pause : DEFAULT_PAUSE;
	bool was_in_trouble = listener->is_in_trouble;
	struct err err = {0};

	listener->is_in_trouble = true;
	loop_watch_enable(listener->watch, false);
	loop_timer_arm_after(listener->pause, pause);
	err_set_errno(&err, failure, "cannot accept a connection to port %d", listener->port);
	if (!was_in_trouble)
		listener->request.on_trouble(&err, listener->request.data);
}

static void on_listener_pause_end(void *data)
{
	const struct listener *listener = data;

	loop_watch_enable(listener->watch, true);
}

static void on_listener_readable(void *data)
{
	struct listener *listener = data;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		listener->is_in_trouble = false;
		listener->request.on_connection(fd, listener->request.data);
	} else if (is_lasting(errno)) {
		rest(listener, errno);
	}
}

int listener_new(struct loop *loop, const struct listener_request *request,
		 struct listener **ret_listener, struct err *err)
{
	int fd = -1, rc = listening_open_port(request->address, request->port, &fd, err);

	if (rc < 0)
		return rc;
	struct listener *listener = mem_new(sizeof(*listener));

	listener->request = *request;
	listener->fd = fd;
	listener->port = listening_port(fd);
	listener->watch = loop_watch_readable(loop, fd, on_listener_readable, listener);
	listener->pause = loop_new_timer(loop, on_listener_pause_end, listener);
	*ret_listener = listener;
	return 0;
}

void listener_free(struct listener *listener)
{
	if (!listener)
		return;
	loop_watch_free(listener->watch);
	loop_watch_free(listener->pause);
	file_close(&listener->fd);
	free(listener);
}

int listener_port(const struct listener *listener)
{
	return listener->port;
}

void listener_enable(struct listener *listener, bool is_enabled)
{
	loop_timer_arm(listener->pause, INSTANT_NEVER);
	loop_watch_enable(listener->watch, is_enabled);
}

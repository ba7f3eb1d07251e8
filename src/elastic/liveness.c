#include "elastic/liveness.h"

#include "base/mem.h"
#include "base/text.h"
#include "http/listening.h"
#include "io/file.h"

#include <netdb.h>
#include <sys/socket.h>

#define LONGEST_ID 64 /* of a member: a label value */
#define PROBE_TIME (2 * MSEC_PER_SECOND) /* room for a lost packet, and less than a lease */

/* The agent's side. */

struct liveness_port {
	struct listener *listener;
	char *id;
};

static void on_probe(int take_fd, void *data)
{
	const struct liveness_port *port = data;

	/* The buffer of a new socket has room for it. */
	(void) send(take_fd, port->id, strlen(port->id), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(take_fd);
}

static void on_listener_trouble(const struct err *err, void *data)
{
	(void) err;
	(void) data;
}

struct liveness_port *liveness_port_new(struct loop *loop, const char *ip, const char *id,
					struct err *err)
{
	struct liveness_port *port = mem_new(sizeof(*port));
	const struct listener_request request = {
		.address = ip,
		.on_connection = on_probe,
		.on_trouble = on_listener_trouble,
		.data = port,
	};

	port->id = mem_copy_text(id);
	if (listener_new(loop, &request, &port->listener, err) == 0)
		return port;
	liveness_port_free(port);
	return NULL;
}

void liveness_port_rename(struct liveness_port *port, const char *id)
{
	text_keep(&port->id, id);
}

void liveness_port_free(struct liveness_port *port)
{
	if (!port)
		return;
	listener_free(port->listener);
	free(port->id);
	free(port);
}

int liveness_port_number(const struct liveness_port *port)
{
	return listener_port(port->listener);
}

/* The server's side. */

struct liveness_probe {
	int fd; /* -1: it was not connected at all */
	struct loop_watch *readable, *timer;
	char *id;
	liveness_fn on_result;
	void *data;
};

void liveness_probe_cancel(struct liveness_probe *probe)
{
	if (!probe)
		return;
	loop_watch_free(probe->readable);
	loop_watch_free(probe->timer);
	file_close(&probe->fd);
	free(probe->id);
	free(probe);
}

static void end_probe(struct liveness_probe *probe, enum liveness liveness)
{
	liveness_fn on_result = probe->on_result;
	void *data = probe->data;

	liveness_probe_cancel(probe);
	on_result(liveness, data);
}

static void on_probe_timeout(void *data)
{
	end_probe(data, LIVENESS_UNKNOWN);
}

/* A refused connection is readable, too. ENOTCONN: connect() was refused, as on one machine. */
static void on_probe_readable(void *data)
{
	struct liveness_probe *probe = data;
	char said[LONGEST_ID + 1] = "";
	ssize_t len = recv(probe->fd, said, LONGEST_ID, 0);

	bool is_refused =
		len < 0 && (errno == ECONNREFUSED || errno == ECONNRESET || errno == ENOTCONN);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0 && text_equals(said, probe->id))
		end_probe(probe, LIVENESS_ALIVE);
	else if (len == 0 || is_refused)
		end_probe(probe, LIVENESS_GONE);
	else
		end_probe(probe, LIVENESS_UNKNOWN);
}

/* -1: it failed at once. */
static int connect_to(const char *ip, int port)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	char *service CLEANUP(mem_free_text) = mem_format("%d", port);
	struct addrinfo *found = NULL;

	if (getaddrinfo(ip, service, &wanted, &found))
		return -1;
	int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) < 0 && errno != EINPROGRESS &&
	    errno != ECONNREFUSED)
		file_close(&fd);
	freeaddrinfo(found);
	return fd;
}

struct liveness_probe *liveness_probe_new(struct loop *loop, const char *ip, int port,
					  const char *id, liveness_fn on_result, void *data)
{
	struct liveness_probe *probe = mem_new(sizeof(*probe));

	probe->fd = connect_to(ip, port);
	probe->id = mem_copy_text(id);
	probe->on_result = on_result;
	probe->data = data;
	probe->timer = loop_new_timer(loop, on_probe_timeout, probe);
	loop_timer_arm_after(probe->timer, probe->fd < 0 ? 0 : PROBE_TIME);
	if (probe->fd >= 0)
		probe->readable = loop_watch_readable(loop, probe->fd, on_probe_readable, probe);
	return probe;
}

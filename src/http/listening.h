/* A listening socket: one TCP port of one address of this machine, or a path; and a listener on the
 * loop, which passes on the connections of a port. */
#pragma once

#include "base/err.h"
#include "io/loop.h"

#include <stdbool.h>

/* Zero it to begin, except `fd`, which is -1. */
struct listening {
	int fd; /* non-blocking */
	char *address; /* as clients name it: "127.0.0.1:40123", "[::1]:80", "unix:/run/m" */
	char *path; /* of a Unix socket; NULL: none */
};

/* Opens a listening socket. `address` is HOST:PORT, :PORT (127.0.0.1) or unix:PATH. HOST is
 * localhost or an IP address, IPv6 in brackets; port 0: the kernel chooses one. A socket at PATH
 * without a listening process is replaced; the new one is for this user only.
 *
 * Returns ERR_INVALID if the text is no address; ERR_NOT_FOUND if the address is not this
 * machine's; ERR_EXISTS if it is taken; ERR_REFUSED if only the administrator may listen there. */
int listening_open(const char *address, struct listening *ret_listening, struct err *err) MUST_USE;
#define LISTENING_ANYWHERE "*" /* every address of this machine, of IPv4 and IPv6 */
/* The same for a port and an IP address, or the word above. */
int listening_open_port(const char *ip, int port, int *ret_fd, struct err *err) MUST_USE;
int listening_port(int fd); /* for a TCP socket */
bool listening_is_loopback(int fd); /* whether only this machine's programs reach it by TCP */
/* Removes the socket's path, so that no client finds it. Call it once, from any process. */
void listening_remove(const struct listening *listening);
void listening_done(struct listening *listening); /* closes it in this process */

/* Listens on a TCP port of an address of this machine, and passes on each client's connection. */
struct listener;

struct listener_request {
	const char *address; /* "127.0.0.1", "::1"; not a name */
	int port; /* 0: the kernel chooses one */
	/* Takes over a connected, non-blocking socket. */
	void (*on_connection)(int take_fd, void *data);
	/* No connection can be accepted (no descriptor is left). It is retried after a while, and
	 * when the listener is enabled. Not called again before one was accepted. */
	void (*on_trouble)(const struct err *err, void *data);
	msec pause; /* time until the retry; 0: a second */
	void *data;
};

/* Returns ERR_INVALID if `address` is no address; ERR_NOT_FOUND if it is not this machine's;
 * ERR_EXISTS if the port is taken; ERR_REFUSED if only the administrator may listen there. */
int listener_new(struct loop *loop, const struct listener_request *request,
		 struct listener **ret_listener, struct err *err) MUST_USE;
void listener_free(struct listener *listener); /* NULL is fine */
int listener_port(const struct listener *listener);
/* While the listener is disabled, new connections wait in the kernel, up to its limit. */
void listener_enable(struct listener *listener, bool is_enabled);

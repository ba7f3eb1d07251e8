/* Listens on one TCP port of one address of this machine, on the loop, and passes on each client's
 * connection. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdbool.h>

struct listener;

struct listener_request {
	const char *address; /* "127.0.0.1", "::1"; not a name */
	int port; /* 0: the kernel chooses one */
	/* Takes over a connected, non-blocking socket. */
	void (*on_connection)(int take_fd, void *data);
	/* No connection can be accepted (no descriptor is left). It is retried after a while, and
	 * when the listener is enabled. This is called again only after a connection was
	 * accepted. */
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

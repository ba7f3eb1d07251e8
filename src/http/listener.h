/* Listens on one TCP port of one address of this machine, on the loop, and hands over each client
 * that connects. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdbool.h>

struct listener;

struct listener_request {
	const char *address; /* "127.0.0.1", "::1"; no name */
	int port; /* 0: the kernel chooses one */
	/* Takes over a connected socket, which does not block. */
	void (*on_connection)(int take_fd, void *data);
	/* Nobody can be taken on (no descriptor is left). It is tried again after a while, and
	 * when it is enabled; this is not told again before somebody was taken on. */
	void (*on_trouble)(const struct err *err, void *data);
	msec pause; /* that while; 0: a second */
	void *data;
};

/* ERR_INVALID: no address; ERR_NOT_FOUND: none of this machine's; ERR_EXISTS: the port is taken;
 * ERR_REFUSED: only the administrator may listen there. */
int listener_new(struct loop *loop, const struct listener_request *request,
		 struct listener **ret_listener, struct err *err) MUST_USE;
void listener_free(struct listener *listener); /* NULL is fine */
int listener_port(const struct listener *listener);
/* A client that connects while it is not enabled waits in the kernel, as many as that keeps. */
void listener_enable(struct listener *listener, bool is_enabled);

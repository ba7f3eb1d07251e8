/* The ports of this machine that lead into a Pod: all of them listen, or none. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cli/port_arguments.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct open_ports;

struct open_ports_request {
	struct loop *loop;
	const char *address; /* NULL: loopback, of IPv4 and, where there is one, of IPv6 */
	const struct port_pair *pairs;
	size_t n_pairs;
	/* Takes over a connected socket, whose port leads to `remote`. */
	void (*on_connection)(int take_fd, int remote, void *data);
	void *data;
};

/* Errors of io/listener.h. */
int open_ports_new(const struct open_ports_request *request, struct open_ports **ret_ports,
		   struct err *err) MUST_USE;
void open_ports_free(struct open_ports *ports); /* NULL is fine */
void open_ports_enable(struct open_ports *ports, bool is_enabled);
/* "Forwarding from 127.0.0.1:8080 -> 6006" on stdout, for each; at once. */
void open_ports_print(const struct open_ports *ports);

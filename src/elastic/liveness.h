/* Whether an agent still exists. The end of its connection does not say so: networks and proxies
 * end connections, too. Each agent listens on a port and says its id there; the kernel of its
 * machine refuses a connection to the port of a process that has ended, however it has ended. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

/* The agent's side. */
struct liveness_port;
/* Listens on a free port of this address of the machine, for clients that are told the id. */
struct liveness_port *liveness_port_new(struct loop *loop, const char *ip, const char *id,
					struct err *err) MUST_USE; /* NULL: it cannot */
void liveness_port_rename(struct liveness_port *port, const char *id);
void liveness_port_free(struct liveness_port *port); /* NULL is fine */
int liveness_port_number(const struct liveness_port *port);

/* The server's side. */
enum liveness {
	LIVENESS_UNKNOWN, /* no answer in time, another client of the address, or no route to it */
	LIVENESS_ALIVE,
	LIVENESS_GONE, /* the connection was refused, or ended without a word */
};
typedef void (*liveness_fn)(enum liveness liveness, void *data);

struct liveness_probe;
/* Asks the agent with this id; `on_result` is called once, from the loop, and ends the probe. */
struct liveness_probe *liveness_probe_new(struct loop *loop, const char *ip, int port,
					  const char *id, liveness_fn on_result,
					  void *data) MUST_USE;
void liveness_probe_cancel(struct liveness_probe *probe); /* NULL is fine */

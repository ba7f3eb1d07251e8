/* Tries the network between the tasks of a cluster, each from where it stands: does the name
 * resolve, does the port open, how long is the way, how wide, and do the clocks agree.
 *
 * Every task calls network_probe_run at about the same time, before its server takes the port. It
 * answers on that port and asks all others, with a small protocol of its own (network_frame.h).
 * Where others serve already, network_reach looks how far one comes from here. Knows no job: only
 * names, hosts and ports.
 *
 * Each question is a process of its own, forked and gone when this returns. So a name service that
 * hangs (getaddrinfo knows no time limit) or a machine that swallows packets holds nobody else up,
 * and the code of a question reads from top to bottom. Only the last part of a question, the one
 * with many bytes, is asked by one process at a time; the tasks begin with their successor in the
 * list, so that they do not all measure at the same victim. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "io/network_finding.h"

#include <stddef.h>

/* How long to wait for peers that are not there yet, unless told otherwise. */
#define NETWORK_TIMEOUT (10 * MSEC_PER_SECOND)

/* `peer` is its place in the list that was given. */
typedef void (*network_finding_fn)(size_t peer, const struct network_finding *finding, void *data);

struct network_probe {
	const struct network_peer *peers; /* all tasks, the one that asks among them */
	size_t n_peers;
	size_t own; /* which of them we are; its port is the one that is answered on */
	msec timeout;
};

/* Asks every other peer and answers their questions. A peer that cannot be resolved or reached is
 * tried until the timeout is over, since tasks do not begin at one moment. `tell` hears of each
 * peer once, as soon as its questions are final. Returns when all of ours are, and every peer has
 * asked us or the timeout is over: a few seconds after it at the latest. No process and no socket
 * is left, and the port can be bound at once.
 *
 * What is wrong with peers is no error of this function. ERR_REFUSED: our own port is taken. */
int network_probe_run(const struct network_probe *probe, network_finding_fn tell, void *data,
		      struct err *err) MUST_USE;

/* Tries from here, once, whether the names resolve and the ports open; sends nothing. The findings
 * end with NETWORK_DONE after the connection. */
int network_reach(const struct network_peer *peers, size_t n_peers, msec timeout,
		  network_finding_fn tell, void *data, struct err *err) MUST_USE;

/* The same beside what else a loop does. */
struct network_reach_settings {
	struct loop *loop;
	const struct network_peer *peers; /* which outlive it */
	size_t n_peers;
	msec timeout;
	network_finding_fn tell;
	loop_fn on_end; /* all peers were told; it may free the reach */
	void *data; /* of both */
};

struct network_reach;
int network_reach_start(const struct network_reach_settings *settings,
			struct network_reach **ret_reach, struct err *err) MUST_USE;
/* Ends what still asks, and tells no more. NULL is fine. */
void network_reach_free(struct network_reach *reach);

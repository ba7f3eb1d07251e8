/* Tries the network between the tasks of a cluster, each from where it stands: does the name
 * resolve, does the port open, how long is the way, how wide, and do the clocks agree.
 *
 * Every task begins at about the same time, before its server takes the port. It answers on that
 * port and asks all others, with a small protocol of its own (network_frame.h). Where others serve
 * already, a process that is none of them looks how far one comes from here. Knows no job: only
 * names, hosts and ports.
 *
 * Each question is a process of its own, forked and gone when all is over. So a name service that
 * hangs (getaddrinfo knows no time limit) or a machine that swallows packets holds nobody else up,
 * and the code of a question reads from top to bottom. Only the last part of a question, the one
 * with many bytes, is asked by one process at a time; the tasks begin with their successor in the
 * list, so that they do not all measure at the same victim. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "tensorflow/network_ask.h"

#include <stddef.h>

/* How long to wait for peers that are not there yet, unless told otherwise. */
#define NETWORK_TIMEOUT (10 * MSEC_PER_SECOND)

struct network_probe_settings {
	const struct network_peer *peers; /* all tasks; they outlive the probe */
	size_t n_peers;
	/* Which of them we are; its port is the one that is answered on. n_peers: none; each peer
	 * is tried once then, and the findings end with NETWORK_DONE after the connection. */
	size_t own;
	/* A peer that cannot be resolved or reached is tried until it is over, since tasks do not
	 * begin at one moment. */
	msec timeout;
	/* Hears of each other peer (its place in the list) once, when its finding is final. */
	void (*tell)(size_t peer, const struct network_finding *finding, void *data);
	/* Hears at the end of each peer that was waited for in vain, while somebody asked in its
	 * name from `address`, which its host does not have: a stranger, or a peer behind a
	 * translation of addresses. Needed where `own` is a peer. */
	void (*tell_of_other)(size_t peer, const char *address, void *data);
	/* All were told, and every peer has asked us or the timeout is over: a few seconds after it
	 * at the latest. May free the probe. NULL: the loop is stopped. */
	void (*on_end)(void *data);
	void *data;
};

struct network_probe;

/* What is wrong with peers is no error of this function. ERR_REFUSED: our own port is taken. */
int network_probe_start(struct loop *loop, const struct network_probe_settings *settings,
			struct network_probe **ret_probe, struct err *err) MUST_USE;
/* No process and no socket is left, and the port can be bound at once. NULL is fine. */
void network_probe_free(struct network_probe *probe);

/* The same from the beginning to the end, in a loop of its own, without `on_end`. */
int network_probe_run(const struct network_probe_settings *settings, struct err *err) MUST_USE;

/* Tests the network between the tasks of a cluster, from each task: whether the name resolves and
 * the port opens, the latency, the bandwidth, and whether the clocks agree.
 *
 * Every task begins at about the same time, before its server takes the port. It answers on that
 * port and asks all others, with its own small protocol (network_ask.h). If other servers already
 * run, a process outside the cluster tests how far a connection gets. The probe knows only names,
 * hosts and ports, no jobs.
 *
 * Each question runs in its own forked process. So a hanging name service (getaddrinfo has no time
 * limit) or a machine that drops packets delays no other question, and the code of a question is
 * sequential. Only the last part of a question, the bandwidth measurement, runs in one process at a
 * time. Each task begins with its successor in the list, so that they do not all measure the same
 * peer. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "tensorflow/network_ask.h"

/* Default time to wait for peers that are not up yet. */
#define NETWORK_TIMEOUT (10 * MSEC_PER_SECOND)

struct network_probe_settings {
	const struct network_peer *peers; /* all tasks; must outlive the probe */
	size_t n_peers;
	/* Our index; we answer on its port. n_peers: we are none of them. Then each peer is tried
	 * once, and the findings end with NETWORK_DONE after the connection. */
	size_t own;
	/* A peer that cannot be resolved or reached is retried for this long, since tasks do not
	 * begin at the same moment. */
	msec timeout;
	/* Called for each other peer (its index) once, when its finding is final. */
	void (*tell)(size_t peer, const struct network_finding *finding, void *data);
	/* Called at the end for each peer that never asked, if another client used its name from
	 * `address`, which its host does not have. That is an impostor, or a peer behind address
	 * translation. Required if `own` is a peer. */
	void (*tell_of_other)(size_t peer, const char *address, void *data);
	/* All findings were reported, and every peer has asked us or the timeout has passed, at
	 * most a few seconds ago. May free the probe. NULL: the loop is stopped. */
	void (*on_end)(void *data);
	void *data;
};

struct network_probe;

/* Faults of peers are no error of this function. Returns ERR_REFUSED if our own port is taken. */
int network_probe_start(struct loop *loop, const struct network_probe_settings *settings,
			struct network_probe **ret_probe, struct err *err) MUST_USE;
/* Ends all processes and sockets; the port can be bound immediately. NULL is fine. */
void network_probe_free(struct network_probe *probe);

/* Runs a whole probe in its own loop, without `on_end`. */
int network_probe_run(const struct network_probe_settings *settings, struct err *err) MUST_USE;

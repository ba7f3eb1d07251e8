/* Tests the network from one task of a cluster to all others and reports events: one row of the
 * matrix of which task reaches which. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/cluster_spec.h"
#include "tensorflow/network_probe.h"

/* Formats a finding for programs. Caller frees. */
struct json *network_event_new(const char *from, const char *to, const char *address,
			       const struct network_finding *finding) MUST_USE;

/* `event` is for programs: {"muster": "network", "from": "ps-1", "to": "worker-0", "address": …}
 * with "resolve", "connect", "roundTrip", "clock" (seconds) and "bandwidth" (bytes a second), or
 * with "stage" and "error". `sentence` says the same for people; without an event it is a
 * warning. */
typedef void (*network_matrix_fn)(const struct json *event, const char *sentence, void *data);

/* Tests, as the cluster's own task, every other task with tensorflow/network_probe, and reports
 * each. An unreachable task is reported and is no error. Returns ERR_REFUSED if our own port is
 * taken. */
int network_matrix_run(const struct cluster_spec *cluster, msec timeout, network_matrix_fn tell,
		       void *data, struct err *err) MUST_USE;

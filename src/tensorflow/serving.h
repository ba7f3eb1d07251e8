/* Sees a TensorFlow server through, in two processes: the inner one loads TensorFlow and serves,
 * the outer one only waits, and explains what TensorFlow does not: when it aborts, or dies of a
 * memory fault, the process it was in cannot say anything any more. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/cluster_spec.h"
#include "tensorflow/library_find.h"
#include "tensorflow/network_matrix.h"
#include "tensorflow/server.h"

#include <stdbool.h>

struct serving;

/* Called in the inner process. */
typedef void (*serving_fn)(const struct serving *serving, void *data);
typedef void (*serving_failure_fn)(const struct err *err, void *data);

struct serving_request {
	const struct cluster_spec *spec; /* with its own task */
	struct server_settings settings;
	const struct library_place *library;
	bool shows_log; /* TensorFlow's own log goes to stderr; else what it calls errors alone */
	/* NULL: the server serves at once. Else the network to all other tasks is tried before
	 * (tensorflow/network_matrix), and this hears of each; what cannot be reached ends nothing.
	 */
	network_matrix_fn on_network;
	msec network_timeout;
	serving_fn on_serving;
	serving_failure_fn on_failure; /* then the process ends with 1 */
	void *data;
};

/* A server that answers. */
struct serving {
	const char *target; /* where clients find it: "grpc://localhost:2222" */
	const char *version; /* of TensorFlow, as the library itself says: "2.21.0" */
	double seconds; /* since serving_run was called */
};

/* Forks (call it with nothing else going on) and comes back in the outer process alone, when the
 * server has ended: *ret_exit_code is 0 after TERM, INT or HUP. ERR_IO when TensorFlow crashed: the
 * sentence says while doing what. */
int serving_run(const struct serving_request *request, int *ret_exit_code,
		struct err *err) MUST_USE;

/* Runs a TensorFlow server in two processes. The inner one loads TensorFlow and serves. The outer
 * one waits, and explains an abort or memory fault, after which the inner process cannot print
 * anything. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/cluster_spec.h"
#include "tensorflow/library_find.h"
#include "tensorflow/network_matrix.h"
#include "tensorflow/server.h"

struct serving;

/* Called in the inner process. */
typedef void (*serving_fn)(const struct serving *serving, void *data);
typedef void (*serving_failure_fn)(const struct err *err, void *data);

struct serving_request {
	const struct cluster_spec *spec; /* including its own task */
	struct server_settings settings;
	const struct library_place *library;
	bool shows_log; /* TensorFlow's whole log goes to stderr; else only its errors */
	/* NULL: the server starts immediately. Else the network to all other tasks is tested first
	 * (tensorflow/network_matrix), and this is called for each. An unreachable task is no
	 * failure. */
	network_matrix_fn on_network;
	msec network_timeout;
	serving_fn on_serving;
	serving_failure_fn on_failure; /* called before the process exits with 1 */
	void *data;
};

/* A running server. */
struct serving {
	const char *target; /* its address for clients: "grpc://localhost:2222" */
	const char *version; /* of TensorFlow, from the library itself: "2.21.0" */
	double seconds; /* since serving_run was called */
};

/* Forks (call it when nothing else is running) and returns only in the outer process, when the
 * server has ended: *ret_exit_code is 0 after SIGTERM, SIGINT or SIGHUP. Returns ERR_IO if
 * TensorFlow crashed, with the interrupted activity. */
int serving_run(const struct serving_request *request, int *ret_exit_code,
		struct err *err) MUST_USE;

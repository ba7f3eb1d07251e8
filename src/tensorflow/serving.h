/* Runs a TensorFlow server in two processes. The inner one loads TensorFlow and serves; it cannot
 * be stopped (TF_ServerStop is not implemented for gRPC) but ends. The outer one waits, and
 * explains an abort or memory fault, after which the inner process cannot print anything. */
#pragma once

#include "base/text.h"
#include "spec/cluster_spec.h"
#include "tensorflow/library_find.h"
#include "tensorflow/network_matrix.h"

struct server_settings {
	const char *protocol; /* "grpc" */
	double gpu_memory_fraction; /* of each GPU, up to 1; 0: TensorFlow's default */
	int inter_op_threads; /* for operations, some of which wait for tasks; 0: one per core */
};

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

/* Appends the bytes of a ServerDef. The spec includes its own task. The bytes equal those of
 * Python's deterministic protobuf: fields by number, tasks by index from the last to the first, no
 * default values. */
void server_def_add(const struct cluster_spec *spec, const struct server_settings *settings,
		    struct text *message);

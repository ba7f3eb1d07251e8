/* A TensorFlow server in this process, and the message that configures it. It cannot be stopped
 * (TF_ServerStop is not implemented for gRPC): end the process. */
#pragma once

#include "base/text.h"
#include "spec/cluster_spec.h"
#include "tensorflow/library.h"

/* Creates and starts a server from the bytes of a ServerDef with that protocol. *ret_target is its
 * address for clients ("grpc://localhost:2222"); it lives as long as the process. Returns
 * ERR_UNSUPPORTED if the library has no server for that protocol; ERR_REFUSED with TensorFlow's
 * message. */
int server_start(const struct library *library, const struct text *server_def, const char *protocol,
		 const char **ret_target, struct err *err) MUST_USE;

struct server_settings {
	const char *protocol; /* "grpc" */
	double gpu_memory_fraction; /* of each GPU, up to 1; 0: TensorFlow's default */
	int inter_op_threads; /* for operations, some of which wait for tasks; 0: one per core */
};

/* Appends the bytes of a ServerDef. The spec includes its own task. The bytes equal those of
 * Python's deterministic protobuf: fields by number, tasks by index from the last to the first, no
 * default values. */
void server_def_add(const struct cluster_spec *spec, const struct server_settings *settings,
		    struct text *message);

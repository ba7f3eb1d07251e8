/* A TensorFlow server in this process, and the message that says what it is. It cannot be stopped
 * (TF_ServerStop is not implemented for gRPC): end the process. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/cluster_spec.h"
#include "tensorflow/library.h"

/* Makes a server of the bytes of a ServerDef, which has that protocol, and starts it; from then on
 * it serves. *ret_target is where clients find it ("grpc://localhost:2222"); it lives as long as
 * the process. ERR_UNSUPPORTED when the library has no server for that protocol; ERR_REFUSED with
 * TensorFlow's own words. */
int server_start(const struct library *library, const struct text *server_def, const char *protocol,
		 const char **ret_target, struct err *err) MUST_USE;

struct server_settings {
	const char *protocol; /* "grpc" */
	double gpu_memory_fraction; /* of each GPU, up to 1; 0: as TensorFlow likes it */
	int inter_op_threads; /* for operations, some of which wait for other tasks; 0: one for each
				 core */
};

/* Adds the bytes of a ServerDef. The spec knows its own task. The bytes are those that Python's
 * protobuf writes deterministically: fields by number, tasks by index from the last to the first,
 * nothing that is a default. */
void server_def_add(const struct cluster_spec *spec, const struct server_settings *settings,
		    struct text *message);

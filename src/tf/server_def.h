/* ServerDef: what TensorFlow's server is told about its cluster, as protobuf bytes.
 *
 * Sources: tensorflow/core/protobuf/{tensorflow_server,cluster,config}.proto. */
#pragma once

#include "base/text.h"
#include "core/cluster_spec.h"

struct server_settings {
	const char *protocol; /* "grpc" */
	double gpu_memory_fraction; /* of each GPU, up to 1; 0: as TensorFlow likes it */
};

/* Adds the bytes of a ServerDef. The spec knows its own task. The bytes are those that Python's
 * protobuf writes deterministically: fields by number, tasks by index from the last to the first,
 * nothing that is a default. */
void server_def_add(const struct cluster_spec *spec, const struct server_settings *settings,
		    struct text *message);

/* The objects that TensorFlow's k8s_tensorflow.py made: a cluster of bare TensorFlow servers.
 *
 * Source: tensorflow/tools/dist_test/scripts/k8s_tensorflow.py of TensorFlow 1. The image's entry
 * point gets --cluster_spec, --job_name and --task_id, which `muster server` takes as well. */
#pragma once

#include "base/json.h"
#include "base/own.h"

#include <stdbool.h>

#define K8S_TENSORFLOW_IMAGE "tensorflow/tf_grpc_test_server"

struct k8s_tensorflow {
	int n_workers;
	int n_parameter_servers;
	int port;
	const char *image;
	bool has_load_balancer; /* workers are reached from outside the cluster */
};

/* For each task, workers first, a ReplicationController of one Pod and a Service, both called
 * tf-worker0, tf-ps0 and so on. Caller frees. */
struct json *k8s_tensorflow_objects_new(const struct k8s_tensorflow *wanted) MUST_USE;

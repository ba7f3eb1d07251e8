/* The objects that TensorFlow's k8s_tensorflow.py created: a cluster of bare TensorFlow servers.
 *
 * Source: tensorflow/tools/dist_test/scripts/k8s_tensorflow.py of TensorFlow 1. The image's entry
 * point gets --cluster_spec, --job_name and --task_id, which `muster server` takes as well. */
#pragma once

#include "base/json.h"
#include "spec/job.h"

#define K8S_TENSORFLOW_IMAGE "tensorflow/tf_grpc_test_server"

struct k8s_tensorflow {
	int n_workers;
	int n_parameter_servers;
	int port;
	const char *image;
	const char *prefix; /* of names and addresses, "a-worker0"; NULL: "tf" */
	const struct env_entry *env; /* for every server */
	size_t n_env;
	bool has_load_balancer; /* makes workers reachable from outside the cluster */
};

/* For each task, workers first, a ReplicationController of one Pod and a Service, both called
 * tf-worker0, tf-ps0 and so on. Labels have only the kind and the index. With a prefix they have
 * the prefix too, because a namespace may then hold several clusters. Caller frees. */
struct json *k8s_tensorflow_objects_new(const struct k8s_tensorflow *wanted) MUST_USE;

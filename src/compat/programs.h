/* The old programs, one file each. They only translate flags, except TF-Spawner
 * (compat/tf_spawner_cluster.h) and ElasticDL's client (compat/elasticdl_call.h). */
#pragma once

#include "command/command.h"

extern const struct command compat_local_test, compat_remote_test, compat_grpc_tensorflow_server,
	compat_k8s_tensorflow, compat_tensorflow_elastic, compat_tf_spawner,
	compat_elasticdl_client;

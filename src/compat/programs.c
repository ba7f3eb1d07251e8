/* The table of old programs, which command/command.h declares. */
#include "command/command.h"
#include "compat/call.h"

#include <stddef.h>

const struct command *const compat_commands[] = {
	&compat_local_test,
	&compat_remote_test,
	&compat_grpc_tensorflow_server,
	&compat_k8s_tensorflow,
	&compat_tensorflow_elastic,
	&compat_tf_spawner,
	&compat_elasticdl_client,
	NULL,
};

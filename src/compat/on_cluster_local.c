/* The program `muster` has no HTTP client and no cluster support. */
#include "compat/on_cluster.h"

#include <stddef.h>

int (*const elasticdl_call)(const struct elasticdl_call *call) = NULL;
const struct tf_spawner_cluster *const tf_spawner_cluster = NULL;

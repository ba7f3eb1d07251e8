/* The program `muster` has no cluster support. */
#include "compat/tf_spawner_cluster.h"

#include <stddef.h>

const struct tf_spawner_cluster *const tf_spawner_cluster = NULL;

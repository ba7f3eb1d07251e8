/* The program muster-kubernetes: what TF-Spawner did with Kubernetes' Python client.
 *
 * It supervises nothing: its users follow the objects with kubectl, as before. */
#include "compat/tf_spawner_cluster.h"

#include "compat/tf_spawner_session.h"

static const struct tf_spawner_cluster functions = {spawner_create, spawner_remove};
const struct tf_spawner_cluster *const tf_spawner_cluster = &functions;

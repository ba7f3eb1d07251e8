/* The program muster-kubernetes: what TF-Spawner did by Kubernetes' Python client.
 *
 * It sees nothing through: what it has made is followed with kubectl, as its users are used to. */
#include "compat/tf_spawner_cluster.h"

#include "compat/tf_spawner_session.h"

static const struct tf_spawner_cluster functions = {spawner_create, spawner_remove};
const struct tf_spawner_cluster *const tf_spawner_cluster = &functions;

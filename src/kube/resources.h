/* The kinds of objects that a job consists of, as in URLs. Compare them by address. */
#pragma once

#include "kube/request.h"

extern const struct kube_resource kube_config_maps, kube_events, kube_leases, kube_network_policies,
	kube_pods, kube_secrets, kube_services, kube_tfjobs;

/* The kinds that an operator is installed with, or replaces. */
extern const struct kube_resource kube_cluster_role_bindings, kube_cluster_roles, kube_definitions,
	kube_deployments, kube_namespaces, kube_role_bindings, kube_roles, kube_service_accounts,
	kube_validating_webhooks;

/* The resource of an object by its "kind": a kind of a job or of an operator; NULL for any
 * other. */
const struct kube_resource *kube_resource_of(const struct json *object);

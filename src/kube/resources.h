/* The kinds of objects that a job is made of, as they stand in URLs. They are told apart by their
 * addresses. */
#pragma once

#include "kube/request.h"

extern const struct kube_resource kube_config_maps, kube_events, kube_leases, kube_network_policies,
	kube_pods, kube_secrets, kube_services, kube_tfjobs;

/* And those that an operator is installed with, or takes the place of. */
extern const struct kube_resource kube_cluster_role_bindings, kube_cluster_roles, kube_definitions,
	kube_deployments, kube_namespaces, kube_role_bindings, kube_roles, kube_service_accounts,
	kube_validating_webhooks;

/* Of an object that is to be made, by its "kind": what a job is made of, or an operator. NULL for
 * any other. */
const struct kube_resource *kube_resource_of(const struct json *object);

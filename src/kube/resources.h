/* The kinds of objects that a job is made of, as they stand in URLs. They are told apart by their
 * addresses. */
#pragma once

#include "kube/request.h"

extern const struct kube_resource kube_config_maps, kube_events, kube_leases, kube_network_policies,
	kube_pods, kube_secrets, kube_services, kube_tfjobs;

/* Of an object that is to be made, by its "kind": "ConfigMap", "NetworkPolicy", "Pod", "Secret" or
 * "Service". NULL
 * for any other. */
const struct kube_resource *kube_resource_of(const struct json *object);

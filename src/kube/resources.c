#include "kube/resources.h"

const struct kube_resource kube_config_maps = {"", "v1", "configmaps", false};
const struct kube_resource kube_events = {"", "v1", "events", false};
const struct kube_resource kube_leases = {"coordination.k8s.io", "v1", "leases", false};
const struct kube_resource kube_network_policies = {"networking.k8s.io", "v1", "networkpolicies",
						    false};
const struct kube_resource kube_pods = {"", "v1", "pods", false};
const struct kube_resource kube_secrets = {"", "v1", "secrets", false};
const struct kube_resource kube_services = {"", "v1", "services", false};
const struct kube_resource kube_tfjobs = {"kubeflow.org", "v1", "tfjobs", false};

const struct kube_resource *kube_resource_of(const struct json *object)
{
	static const struct {
		const char *kind;
		const struct kube_resource *resource;
	} rows[] = {
		{"ConfigMap", &kube_config_maps},
		{"NetworkPolicy", &kube_network_policies},
		{"Pod", &kube_pods},
		{"Secret", &kube_secrets},
		{"Service", &kube_services},
	};
	const char *kind = json_as_string(json_get(object, "kind"), NULL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_equals(kind, rows[i].kind))
			return rows[i].resource;
	return NULL;
}

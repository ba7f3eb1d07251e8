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

#define RBAC "rbac.authorization.k8s.io"

const struct kube_resource kube_cluster_role_bindings = {RBAC, "v1", "clusterrolebindings", true};
const struct kube_resource kube_cluster_roles = {RBAC, "v1", "clusterroles", true};
const struct kube_resource kube_definitions = {"apiextensions.k8s.io", "v1",
					       "customresourcedefinitions", true};
const struct kube_resource kube_deployments = {"apps", "v1", "deployments", false};
const struct kube_resource kube_namespaces = {"", "v1", "namespaces", true};
const struct kube_resource kube_role_bindings = {RBAC, "v1", "rolebindings", false};
const struct kube_resource kube_roles = {RBAC, "v1", "roles", false};
const struct kube_resource kube_service_accounts = {"", "v1", "serviceaccounts", false};
const struct kube_resource kube_validating_webhooks = {"admissionregistration.k8s.io", "v1",
						       "validatingwebhookconfigurations", true};

const struct kube_resource *kube_resource_of(const struct json *object)
{
	static const struct {
		const char *kind;
		const struct kube_resource *resource;
	} rows[] = {
		{"ClusterRole", &kube_cluster_roles},
		{"ClusterRoleBinding", &kube_cluster_role_bindings},
		{"ConfigMap", &kube_config_maps},
		{"CustomResourceDefinition", &kube_definitions},
		{"Deployment", &kube_deployments},
		{"Namespace", &kube_namespaces},
		{"NetworkPolicy", &kube_network_policies},
		{"Pod", &kube_pods},
		{"Role", &kube_roles},
		{"RoleBinding", &kube_role_bindings},
		{"Secret", &kube_secrets},
		{"Service", &kube_services},
		{"ServiceAccount", &kube_service_accounts},
	};
	const char *kind = json_as_string(json_get(object, "kind"), NULL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_equals(kind, rows[i].kind))
			return rows[i].resource;
	return NULL;
}

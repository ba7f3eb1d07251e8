/* API conventions: core objects are under /api, those of groups under /apis/GROUP. */
#include "kube/request.h"

#include <ctype.h>

const struct kube_resource kube_config_maps = {"", "v1", "configmaps", .kind = "ConfigMap"};
const struct kube_resource kube_events = {"", "v1", "events", .kind = "Event"};
const struct kube_resource kube_leases = {"coordination.k8s.io", "v1", "leases", .kind = "Lease"};
const struct kube_resource kube_network_policies = {"networking.k8s.io", "v1", "networkpolicies",
						    .kind = "NetworkPolicy"};
const struct kube_resource kube_pods = {"", "v1", "pods", .kind = "Pod"};
const struct kube_resource kube_secrets = {"", "v1", "secrets", .kind = "Secret"};
const struct kube_resource kube_services = {"", "v1", "services", .kind = "Service"};
const struct kube_resource kube_tfjobs = {"kubeflow.org", "v1", "tfjobs", .kind = "TFJob"};

#define RBAC "rbac.authorization.k8s.io"
const struct kube_resource kube_cluster_role_bindings = {RBAC, "v1", "clusterrolebindings", true,
							 "ClusterRoleBinding"};
const struct kube_resource kube_cluster_roles = {RBAC, "v1", "clusterroles", true, "ClusterRole"};
const struct kube_resource kube_definitions = {"apiextensions.k8s.io", "v1",
					       "customresourcedefinitions", true,
					       "CustomResourceDefinition"};
const struct kube_resource kube_deployments = {"apps", "v1", "deployments", .kind = "Deployment"};
const struct kube_resource kube_namespaces = {"", "v1", "namespaces", true, "Namespace"};
const struct kube_resource kube_role_bindings = {RBAC, "v1", "rolebindings", .kind = "RoleBinding"};
const struct kube_resource kube_roles = {RBAC, "v1", "roles", .kind = "Role"};
const struct kube_resource kube_service_accounts = {"", "v1", "serviceaccounts",
						    .kind = "ServiceAccount"};
const struct kube_resource kube_validating_webhooks = {"admissionregistration.k8s.io", "v1",
						       "validatingwebhookconfigurations", true,
						       "ValidatingWebhookConfiguration"};

const struct kube_resource *kube_resource_of(const struct json *object)
{
	static const struct kube_resource *const known[] = {
		&kube_cluster_roles,
		&kube_cluster_role_bindings,
		&kube_config_maps,
		&kube_definitions,
		&kube_deployments,
		&kube_namespaces,
		&kube_network_policies,
		&kube_pods,
		&kube_roles,
		&kube_role_bindings,
		&kube_secrets,
		&kube_services,
		&kube_service_accounts,
	};
	const char *kind = json_get_string(object, "kind", NULL);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (text_equals(kind, known[i]->kind))
			return known[i];
	return NULL;
}

const struct kube_verb_form kube_verbs[] = {
	[KUBE_GET] = {"get", "GET", NULL},
	[KUBE_LIST] = {"list", "GET", NULL},
	[KUBE_WATCH] = {"watch", "GET", NULL},
	[KUBE_CREATE] = {"create", "POST", "application/json"},
	[KUBE_UPDATE] = {"update", "PUT", "application/json"},
	[KUBE_PATCH] = {"patch", "PATCH", "application/merge-patch+json"},
	[KUBE_JSON_PATCH] = {"patch", "PATCH", "application/json-patch+json"},
	/* JSON is YAML. */
	[KUBE_APPLY] = {"patch", "PATCH", "application/apply-patch+yaml"},
	[KUBE_DELETE] = {"delete", "DELETE", "application/json"},
	[KUBE_DELETE_COLLECTION] = {"deletecollection", "DELETE", "application/json"},
};

struct json *kube_delete_options_new(const char *uid)
{
	struct json *options = json_new_texts("apiVersion", "v1", "kind", "DeleteOptions", NULL);

	json_set(options, "preconditions", json_new_texts("uid", uid, NULL));
	return options;
}

const char *kube_request_namespace(const struct kube_request *request, const char *own_namespace)
{
	if (request->resource->is_cluster_wide)
		return "";
	return request->namespace_name ? request->namespace_name : own_namespace;
}

const char *kube_request_name(const struct kube_request *request)
{
	if (request->name)
		return request->name;
	return json_as_string(json_get_path(request->body, "metadata", "name", NULL), NULL);
}

bool kube_request_is_question(const struct kube_request *request)
{
	const struct json *metadata = json_get(request->body, "metadata");

	return request->verb == KUBE_CREATE && !request->subresource &&
	       !kube_request_name(request) && !json_get(metadata, "generateName");
}

/* RFC 3986: all but unreserved characters are escaped, so no name leaves its path segment. */
static void add_escaped(struct text *text, const char *value)
{
	for (const char *byte = value; *byte; byte++)
		if (isalnum((unsigned char) *byte) || strchr("-._~", *byte))
			text_add_char(text, *byte);
		else
			text_addf(text, "%%%02X", (unsigned char) *byte);
}

static void add_step(struct text *text, const char *value)
{
	text_add_char(text, '/');
	add_escaped(text, value);
}

static void add_parameter(struct text *text, char before, const char *name, const char *value)
{
	text_add_char(text, before);
	add_escaped(text, name);
	text_add_char(text, '=');
	add_escaped(text, value);
}

void kube_request_add_url(struct text *text, const struct kube_request *request, const char *server,
			  const char *own_namespace)
{
	const struct kube_resource *resource = request->resource;
	const char *namespace_name = kube_request_namespace(request, own_namespace);
	char before = '?';

	text_add(text, server);
	text_add(text, *resource->group ? "/apis" : "/api");
	if (*resource->group)
		add_step(text, resource->group);
	add_step(text, resource->version);
	if (*namespace_name) {
		text_add(text, "/namespaces");
		add_step(text, namespace_name);
	}
	add_step(text, resource->plural);
	if (request->name)
		add_step(text, request->name);
	if (request->subresource)
		add_step(text, request->subresource);
	if (request->path)
		add_step(text, request->path);
	for (const struct kube_parameter *p = request->parameters; p && p->name; p++) {
		if (!p->value)
			continue;
		add_parameter(text, before, p->name, p->value);
		before = '&';
	}
	if (request->verb == KUBE_WATCH)
		add_parameter(text, before, "watch", "true");
}

void kube_request_add_object(struct text *text, const struct kube_request *request)
{
	const char *name = kube_request_name(request);

	text_add(text, request->resource->plural);
	if (request->subresource)
		text_addf(text, "/%s", request->subresource);
	if (name)
		text_addf(text, " '%s'", name);
}

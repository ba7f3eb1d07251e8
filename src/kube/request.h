/* A request to an API server as its caller writes it, the kinds of objects that it is about, and
 * its form in HTTP. */
#pragma once

#include "base/json.h"
#include "base/text.h"

/* The verbs of RBAC. */
enum kube_verb {
	KUBE_GET,
	KUBE_LIST,
	KUBE_WATCH,
	KUBE_CREATE,
	KUBE_UPDATE, /* replaces a whole object; its resourceVersion is checked */
	KUBE_PATCH, /* a merge patch (RFC 7396); lists are replaced */
	KUBE_JSON_PATCH, /* RFC 6902 */
	KUBE_APPLY, /* server-side apply: the server tracks which manager wants what */
	KUBE_DELETE,
	KUBE_DELETE_COLLECTION,
};

extern const struct kube_verb_form {
	const char *word; /* in RBAC: "get", "deletecollection"; an apply is a "patch" */
	const char *method; /* "GET" … */
	const char *content_type; /* of the body; NULL: there is none */
} kube_verbs[];

/* A kind of objects, as in URLs. */
struct kube_resource {
	const char *group; /* "" for Pods and Services */
	const char *version; /* "v1" */
	const char *plural; /* "pods" */
	bool is_cluster_wide; /* its objects have no namespace */
	const char *kind; /* "Pod" */
};

/* The kinds of objects that a job consists of. Compare them by address. */
extern const struct kube_resource kube_config_maps, kube_events, kube_leases, kube_network_policies,
	kube_pods, kube_secrets, kube_services, kube_tfjobs;

/* The kinds that an operator is installed with, or replaces. */
extern const struct kube_resource kube_cluster_role_bindings, kube_cluster_roles, kube_definitions,
	kube_deployments, kube_namespaces, kube_role_bindings, kube_roles, kube_service_accounts,
	kube_validating_webhooks;

/* The resource of an object by its "kind", of a job or of an operator; NULL for any other. */
const struct kube_resource *kube_resource_of(const struct json *object);

struct kube_parameter {
	const char *name, *value; /* value NULL: it is left out */
};

#define KUBE_ALL_NAMESPACES "" /* as the namespace of a list or watch */

/* A request. Everything is borrowed, for as long as the function that takes it says. */
struct kube_request {
	enum kube_verb verb;
	const struct kube_resource *resource;
	const char *namespace_name; /* NULL: the login's */
	const char *name; /* NULL: of a list, a watch, a collection; a create has it in the body */
	const char *subresource; /* "status", "log" …; NULL: none */
	const char *path; /* one path segment after that: for a Pod's server; NULL: none */
	const char *pod_secret; /* for that server, sent in POD_SECRET_HEADER; NULL: none */
	const struct kube_parameter
		*parameters; /* "labelSelector" …; ends with a NULL name; or NULL */
	const struct json *body; /* NULL: none */
	bool wants_metadata; /* the rest of the answer is neither sent nor parsed */
	bool is_relayed; /* a kubelet behind the server answers: its failure is not retried */
};

/* The body of a delete that affects only the object of this uid, not a newer one of its name. */
struct json *kube_delete_options_new(const char *uid) MUST_USE;

/* Appends "SERVER/api/v1/namespaces/N/pods/NAME/log?follow=true", with all parts escaped. */
void kube_request_add_url(struct text *text, const struct kube_request *request, const char *server,
			  const char *own_namespace);
/* The namespace of the request; "" if it has none, or is for all. */
const char *kube_request_namespace(const struct kube_request *request, const char *own_namespace);
/* The name of the object, also of a create; NULL: none. */
const char *kube_request_name(const struct kube_request *request);
/* Whether it is a create that stores nothing, like a review of access. An object that is stored has
 * a name or generateName. */
bool kube_request_is_question(const struct kube_request *request);
/* Appends the object for messages: "pods 'worker-0'", "pods". */
void kube_request_add_object(struct text *text, const struct kube_request *request);

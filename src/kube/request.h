/* A call to an API server as its caller writes it, and its shape in HTTP. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>

/* In the words of RBAC. */
enum kube_verb {
	KUBE_GET,
	KUBE_LIST,
	KUBE_WATCH,
	KUBE_CREATE,
	KUBE_UPDATE, /* of a whole object that was read before: its resourceVersion is checked */
	KUBE_PATCH, /* a merge patch (RFC 7396); lists are replaced */
	KUBE_STRATEGIC_PATCH, /* of built-in kinds: lists are merged by their keys */
	KUBE_JSON_PATCH, /* RFC 6902 */
	KUBE_APPLY, /* server-side: the body is all that we want, the server keeps which manager
		       wants what */
	KUBE_DELETE,
	KUBE_DELETE_COLLECTION,
};

/* A kind of objects, as it stands in URLs. */
struct kube_resource {
	const char *group; /* "" of Pods and Services */
	const char *version; /* "v1" */
	const char *plural; /* "pods" */
	bool is_cluster_wide; /* its objects are in no namespace */
};

struct kube_parameter {
	const char *name, *value;
};

#define KUBE_ALL_NAMESPACES "" /* as the namespace of a list or a watch */

/* What is asked. Everything is borrowed for as long as the call that is made of it says. */
struct kube_request {
	enum kube_verb verb;
	const struct kube_resource *resource;
	const char *namespace_name; /* NULL: the login's */
	const char *name; /* NULL: of a list, a watch, a collection; of a create it stands in the
			     body */
	const char *subresource; /* "status", "log" …; NULL: none */
	const char *path; /* one step behind that: what a Pod's server has; NULL: none */
	const char *pod_secret; /* for that server, in POD_SECRET_HEADER; NULL: none */
	const struct kube_parameter *parameters; /* "labelSelector" …; ends with a NULL name; NULL:
						    none */
	const struct json *body; /* NULL: none */
	bool wants_metadata; /* of the answer nothing else is used: the rest is neither sent nor
				read */
	bool is_relayed; /* a kubelet answers, behind the server: if that fails, the server has
			    failed in nothing, and is not asked again */
};

/* The body of a delete: only the very object of this uid, and not one of the same name that was
 * made since. */
struct json *kube_delete_options_new(const char *uid) MUST_USE;

/* "GET" … */
const char *kube_request_method(const struct kube_request *request);
/* The word of RBAC: "get", "deletecollection"; an apply is a "patch". */
const char *kube_verb_word(enum kube_verb verb);
/* The type of the body ("application/json" …). */
const char *kube_request_content_type(const struct kube_request *request);
/* "SERVER/api/v1/namespaces/N/pods/NAME/log?follow=true": all of it escaped. */
void kube_request_add_url(struct text *text, const struct kube_request *request, const char *server,
			  const char *own_namespace);
/* The namespace it is about; "" where it is none, or all. */
const char *kube_request_namespace(const struct kube_request *request, const char *own_namespace);
/* The name of the object it is about, of a create too; NULL where it is none. */
const char *kube_request_name(const struct kube_request *request);
/* Whether it is a create that keeps nothing, like a review of access: what is kept has a name, or
 * the beginning of one. */
bool kube_request_is_question(const struct kube_request *request);
/* How people know what it is about: "pods 'worker-0'", "pods". */
void kube_request_add_object(struct text *text, const struct kube_request *request);

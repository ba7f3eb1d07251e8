/* Checks the permissions of a login before anything is created. The cluster answers for each
 * request whether it would permit it (authorization.k8s.io's SelfSubjectAccessReview, as in
 * `kubectl auth can-i`). */
#pragma once

#include "base/err.h"
#include "kube/api.h"

/* A planned request: "create", "pods". */
struct kube_right {
	enum kube_verb verb;
	const struct kube_resource *resource;
	const char *subresource; /* NULL: none */
	const char *way_out; /* how to do without it, as the rest of a sentence after "; " */
};

/* Checks all at the same time and waits as kube_wait does. Returns ERR_REFUSED if the cluster
 * rejects the login or permissions are missing; the text then has an RBAC rule with all of them.
 * What a cluster does not report counts as permitted: the real request will show. Other errors as
 * in kube/api.h.
 *
 * `beside` is an additional request that changes nothing; NULL: none. *ret_object is its answer,
 * which the caller frees. Its error is returned only if no permission is missing. */
int kube_rights_check(struct kube_api *api, const char *namespace_name,
		      const struct kube_right *rights, size_t n_rights,
		      const struct kube_request *beside, struct json **ret_object,
		      struct err *err) MUST_USE;

/* Writes the error for the permissions marked as missing, at least one. Returns ERR_REFUSED. */
int kube_rights_refuse(const char *namespace_name, const struct kube_right *rights,
		       const bool *is_missing, size_t n_rights, struct err *err);

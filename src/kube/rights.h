/* Whether a login may do what it is about to do, asked before anything is made: a cluster says of
 * each call whether it would let it pass (authorization.k8s.io's SelfSubjectAccessReview, which
 * `kubectl auth can-i` asks too). */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stddef.h>

/* Something that will be called: "create", "pods". */
struct kube_right {
	enum kube_verb verb;
	const struct kube_resource *resource;
	const char *subresource; /* NULL: none */
	const char *way_out; /* what does without it, as a sentence begins with it after "; " */
};

/* Asks for all at once and waits as kube_wait does. ERR_REFUSED: the cluster does not know who we
 * are, or rights are missing: the sentence has a rule that gives all of them. What a cluster does
 * not tell is allowed: the call itself will show. Other errors as kube/api.h.
 *
 * With them goes `beside`, a call that changes nothing; NULL: none. *ret_object is its answer, for
 * the caller to free, its error is told where no right is missing. */
int kube_rights_check(struct loop *loop, struct kube_api *api, const char *namespace_name,
		      const struct kube_right *rights, size_t n_rights,
		      const struct kube_request *beside, struct json **ret_object,
		      struct err *err) MUST_USE;

/* The sentence of those rights that are marked as missing; some are. Returns ERR_REFUSED. */
int kube_rights_refuse(const char *namespace_name, const struct kube_right *rights,
		       const bool *is_missing, size_t n_rights, struct err *err);

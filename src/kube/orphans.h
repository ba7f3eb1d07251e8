/* The objects of a job that have no owner.
 *
 * `kubectl apply` of the output of `muster render --as pods` creates objects without owner
 * references, because the uid of the job's ConfigMap is not yet known. They are found by the job's
 * labels. Objects with an owner, ours or another, are excluded: they are deleted with their owner.
 *
 * Secrets are not listed, because that permission would expose all Secrets of the namespace. The
 * Secret of the job's variables is found by its name. */
#pragma once

#include "base/err.h"
#include "kube/api.h"

#include <stdbool.h>

struct kube_orphan {
	const struct kube_resource *resource;
	char *name, *uid;
};

/* Free it with kube_orphans_done. All functions run the loop, as kube_wait does. */
struct kube_orphans {
	/* Set by the caller, and borrowed. */
	struct kube_api *api;
	const char *namespace_name, *job_name;
	bool has_secret; /* the job's document reads JOB.env */

	struct kube_orphan *list;
	size_t count, capacity;
	/* Why a kind could not be listed or the Secret not be reached; code 0: all were found. */
	struct err refusal;
};

/* Finds the Pods, Services, ConfigMaps and Leases, except the job's own ConfigMap. If a kind may
 * not be listed, the others are still found. Errors as in kube_pages_wait. */
int kube_orphans_find(struct kube_orphans *orphans, struct err *err) MUST_USE;
void kube_orphans_done(struct kube_orphans *orphans);

/* Deletes exactly these objects, not newer ones of the same name. A missing object is no error. The
 * Secret becomes owned by the job's ConfigMap, which has this uid and is deleted next. All are
 * tried; then the first error is returned. */
int kube_orphans_delete(struct kube_orphans *orphans, const char *owner_uid,
			struct err *err) MUST_USE;

/* The objects of a job that nobody owns.
 *
 * kubectl apply of what `muster render --as pods` shows makes the objects without owner references,
 * because the uid of the job's ConfigMap is not known before it is made. They are found by the
 * job's labels; what has an owner, ours or another one, is none of them: its owner's end is its
 * end.
 *
 * Secrets are not looked for, because the right to list them reads all of the namespace: that of
 * the job's variables has a name, and is given its owner by that. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_orphan {
	const struct kube_resource *resource;
	char *name, *uid;
};

/* Zero it to begin, and end it with kube_orphans_done. */
struct kube_orphans {
	struct kube_orphan *list;
	size_t count, capacity;
	bool has_secret; /* given: the job's document reads JOB.env */
	/* Of a kind that may not be listed, or of the Secret; code 0: all were seen. */
	struct err refusal;
};

/* Where the job is; everything is borrowed. All functions run the loop, as kube_wait does. */
struct kube_orphans_place {
	struct loop *loop;
	struct kube_api *api;
	const char *namespace_name, *job_name;
};

/* Finds the Pods, Services, ConfigMaps and Leases; the job's own ConfigMap is none. Where
 * a kind may not be listed, the others are found. Errors as kube_pages_wait. */
int kube_orphans_find(const struct kube_orphans_place *place, struct kube_orphans *orphans,
		      struct err *err) MUST_USE;
void kube_orphans_done(struct kube_orphans *orphans);

/* Deletes those very objects, and none of their names that were made since; one that is gone is no
 * error. The Secret goes with the job's ConfigMap, which has this uid and is deleted next. All are
 * tried, then the first error is told. */
int kube_orphans_delete(const struct kube_orphans_place *place, struct kube_orphans *orphans,
			const char *owner_uid, struct err *err) MUST_USE;
/* Makes the job's ConfigMap the owner of those very objects, and of the Secret. Errors as above. */
int kube_orphans_adopt(const struct kube_orphans_place *place, struct kube_orphans *orphans,
		       const char *owner_uid, struct err *err) MUST_USE;

/* What is kept of a Pod of a job: which replica it is, how that is, and whose it is. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "reconcile/observed.h"

#include <stdbool.h>
#include <stdint.h>

struct job_pod {
	struct arena *arena; /* of itself and all its texts */
	const char *name, *uid;
	const char *job_name; /* as its labels say */
	const char
		*owner_uid; /* of what it goes with, the job's ConfigMap or TFJob; NULL: nobody's */
	const char *ip; /* NULL: none yet */
	const char *container; /* that trains */
	int n_restarts; /* how often that was started again in this Pod */
	int64_t version; /* 0: not a number */
	struct observed_replica seen;
};

/* NULL for a Pod that is no replica of any job. */
struct job_pod *job_pod_read(const struct json *object) MUST_USE;
void job_pod_free(struct job_pod *pod); /* NULL is fine */

/* Whether an object, as a cluster shows it, is a Pod of the job: by its labels, and by its owner,
 * the job's ConfigMap or TFJob, of this uid. NULL: the uid is not known; then the owner's name
 * counts, which the cluster compares with the uid, and a Pod of `run --on kubernetes` that nobody
 * owns is the job's too. A user that may make Pods may make one that is so. */
bool job_pod_is_in(const struct json *object, const char *job_name, const char *job_uid);

/* Whether it is of the job whose ConfigMap has this uid, and none left by an earlier job of its
 * name. Of a job that is untouched, which means that nobody has acted for it and it may have been
 * applied as `render` shows it, Pods without any owner are its own too (kube/orphans.h). */
bool job_pod_is_of(const struct job_pod *pod, const char *job_uid, bool is_untouched);

/* Containers that keep folders of a Pod within reach when the one that trains has ended: `run
 * --fetch`.
 *
 * Nobody gets into a container that has ended, and Kubernetes ends the Pod with it. So each folder
 * to be fetched is a volume, and a second container of the same image mounts it and sleeps until
 * the Pod is deleted. The job's other Pods have a volume there too, and no such container. Pure:
 * nothing here talks to a cluster. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"

#include <stdbool.h>

#define FETCH_SIDECAR_CONTAINER "muster-keeper"

/* Says which folders cannot be fetched: of a replica that the job does not have, of one whose
 * containers share their processes. */
void fetch_sidecar_check(const struct job *job, struct faults *faults);

/* Something is to be fetched from this replica. */
bool fetch_sidecar_is_needed(const struct job *job, const char *role, int index);
/* Adds the volumes to the spec of a Pod, and the keeper where one is needed. A folder that lies on
 * a volume already stays there. */
void fetch_sidecar_add(const struct job *job, const struct role *role, int index, struct json *spec,
		       struct json *container);

/* The container of a Pod, as a cluster shows it, to copy from: the one that trains while it runs,
 * then the keeper; or the keeper first, which has what is to be fetched, and does not end during
 * the copy. Borrowed from the Pod. ERR_CONFLICT says why there is none: it has not started, or all
 * of it has ended; `who` begins the sentence. */
int fetch_sidecar_choose_container(const struct json *pod, const char *who, bool is_sidecar_first,
				   const char **ret_container, struct err *err) MUST_USE;

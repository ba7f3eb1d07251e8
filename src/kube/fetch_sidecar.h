/* Containers that keep directories of a Pod accessible after the training container has exited:
 * `run --fetch`.
 *
 * No process can enter an exited container, and Kubernetes ends the Pod with it. So each directory
 * to fetch is a volume. A sidecar of the same image mounts it and sleeps until the Pod is deleted.
 * The job's other Pods have the volume too, but no sidecar. Pure. */
#pragma once

#include "base/json.h"
#include "spec/job.h"

#define FETCH_SIDECAR_CONTAINER "muster-keeper"

/* Adds a fault for each directory that cannot be fetched: the job lacks that replica, or its
 * containers share their processes. */
void fetch_sidecar_check(const struct job *job, struct faults *faults);

/* Whether something is to be fetched from this replica. */
bool fetch_sidecar_is_needed(const struct job *job, const char *role, int index);
/* Adds the volumes to the spec of a Pod, and the sidecar if one is needed. A directory that is
 * already on a volume is left there. */
void fetch_sidecar_add(const struct job *job, const struct role *role, int index, struct json *spec,
		       struct json *container);

/* Chooses the container of an observed Pod to copy from. By default the running training container
 * comes first, then the sidecar. With is_sidecar_first it is the sidecar, which has the files and
 * does not exit during the copy. Borrowed from the Pod. Returns ERR_CONFLICT if no container has
 * started or all have exited; its text begins with `who`. */
int fetch_sidecar_choose_container(const struct json *pod, const char *who, bool is_sidecar_first,
				   const char **ret_container, struct err *err) MUST_USE;

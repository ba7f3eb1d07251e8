/* Copies one directory of a Pod at the end of its job: finds a running container
 * (kube/fetch_sidecar.h), copies (pods/copy.h), and gives up when no data arrive. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "kube/api.h"

#include <stdbool.h>

/* It gives up after this time without a byte. */
#define KUBE_FETCHING_SILENCE (10 * 60 * MSEC_PER_SECOND)

struct kube_fetching;

struct kube_fetching_request {
	const char *namespace_name;
	const char *job_name, *job_uid; /* the Pod has to be of this job */
	const char *pod;
	const char *there; /* path in the Pod */
	const char *here; /* path on this machine, as in pods/copy.h */
	bool makes_here; /* it is a directory, created when the Pod was found */
	/* The last call, once. `what` describes the copy and what was omitted: "12 files, 3.4 MB,
	 * to /home/me/models". It is NULL with an error. ERR_CONFLICT means that a later try would
	 * fail too: the Pod was deleted, all its containers have exited, or the directory has no
	 * file. */
	void (*on_end)(const char *what, const struct err *err, void *data);
	void *data;
};

/* The request is needed only until this returns. */
struct kube_fetching *kube_fetching_new(struct kube_api *api,
					const struct kube_fetching_request *request) MUST_USE;
/* Cancels it without a callback; not from `on_end`. NULL is fine. */
void kube_fetching_cancel(struct kube_fetching *fetching);

/* The copy of one folder of a Pod at the end of its job: finds the container that can be entered
 * (kube/fetch_sidecar.h), copies (pods/copy.h), and gives up when nothing comes. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>

/* Without a byte for so long it is given up. */
#define KUBE_FETCHING_SILENCE (10 * 60 * MSEC_PER_SECOND)

struct kube_fetching;

struct kube_fetching_request {
	struct loop *loop;
	const char *namespace_name;
	const char *job_name, *job_uid; /* whose Pod it has to be */
	const char *pod;
	const char *there; /* path in the Pod */
	const char *here; /* path on this machine, as of pods/copy.h */
	bool makes_here; /* it is a folder, made when the Pod is found */
	/* The last call, once. `what` says what came and where to, "12 files, 3.4 MB, to
	 * /home/me/models", and what is not among it; NULL with an error, of which ERR_CONFLICT
	 * says that nothing is to be had later either: the Pod is gone, all of it has ended, or the
	 * folder has no file. */
	void (*on_end)(const char *what, const struct err *err, void *data);
	void *data;
};

/* The request is needed only until this returns. */
struct kube_fetching *kube_fetching_new(struct kube_api *api,
					const struct kube_fetching_request *request) MUST_USE;
/* Ends it without a callback; not from `on_end`. NULL is fine. */
void kube_fetching_cancel(struct kube_fetching *fetching);

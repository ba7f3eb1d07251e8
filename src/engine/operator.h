/* Serves TFJob objects: for each of them the driver that `run` has, with Pods and Services as back
 * end and the API server as store. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/listening.h"
#include "kube/api.h"
#include "kube/pod_group.h"
#include "kube/tfjob_objects.h"

struct operator_settings {
	kube_log_in_fn log_in;
	void *log_in_data;
	const char *const *namespaces; /* of which TFJobs are served, one mirror and one cache for
					  each; ends with NULL, and is empty where all are */
	struct tfjob_manner manner; /* of all jobs */
	const struct gang *gang; /* which places their Pods together; NULL: none does */
	const struct listening *metrics; /* where /metrics is served; NULL: nowhere */
	const struct listening *health; /* and /healthz and /readyz, besides; NULL: nowhere */
	const char *lease_name; /* in the login's namespace, of which the holder alone acts; NULL:
				   nobody else does */
	/* Something else on the same loop and with the same login, before the loop runs; its end
	 * follows where it began. NULL: nothing. */
	int (*begin_front)(struct loop *loop, struct kube_api *api, void *data, struct err *err);
	void (*end_front)(void *data);
	void *front_data;
	/* What people should know: a sentence. */
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* Until a signal asks for the end. Jobs go on. ERR_INVALID where the cluster's definition of TFJobs
 * is another one, which drops what is written into a status (kube/tfjob_definition.h). */
int operator_run(const struct operator_settings *settings, struct err *err) MUST_USE;

/* Serves TFJob objects: for each of them the reconciler that `run` has, with Pods and Services as
 * back end and the API server as store. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "http/listening.h"
#include "kube/api.h"
#include "kube/pod_group.h"
#include "kube/tfjob_objects.h"

struct controller; /* an operator that runs */

/* What a front shares with the operator. */
struct operator_host {
	struct loop *loop;
	struct kube_api *api;
	const struct controller *controller;
};

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
	/* Something else in the same process, before the loop runs; its end follows where it began.
	 * NULL: nothing. */
	int (*start_http_server)(const struct operator_host *host, void *data, struct err *err);
	void (*end_front)(void *data);
	void *http_server_data;
	/* What people should know: a sentence. */
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* Until a signal asks for the end. Jobs go on. ERR_INVALID where the cluster's definition of TFJobs
 * is another one, which drops what is written into a status (kube/tfjob_definition.h). */
int operator_run(const struct operator_settings *settings, struct err *err) MUST_USE;

/* All TFJobs were listed, and no other operator is the leader. */
bool operator_is_leading(const struct controller *controller);
void operator_write_metrics(const struct controller *controller, struct text *text);

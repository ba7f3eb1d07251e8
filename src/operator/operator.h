/* Manages TFJob objects: runs the reconciler of `run` for each, with Pods and Services as back end
 * and the API server as store. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "http/listening.h"
#include "kube/api.h"
#include "kube/pod_group.h"
#include "kube/tfjob_objects.h"

struct controller; /* a running operator */

/* What the operator shares with another server in the process. */
struct operator_host {
	struct kube_api *api;
	const struct controller *controller;
};

struct operator_settings {
	kube_log_in_fn log_in;
	void *log_in_data;
	const char *const *namespaces; /* whose TFJobs are managed, with a mirror and a cache for
					  each; ends with NULL; empty: all */
	struct tfjob_manner manner; /* for all jobs */
	const struct gang *gang; /* scheduler that places a job's Pods together; NULL: none */
	const struct listening *metrics; /* where to serve /metrics; NULL: nowhere */
	const struct listening *health; /* where to serve /healthz and /readyz; NULL: nowhere */
	const char *lease_name; /* in the login's namespace; only its holder acts; NULL: no other
				   operator exists */
	/* Starts another server in the same process before the loop runs; end_front ends it. NULL:
	 * none. */
	int (*start_http_server)(const struct operator_host *host, void *data, struct err *err);
	void (*end_front)(void *data);
	void *http_server_data;
	/* Receives a sentence for the user. */
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* Runs until a signal stops it. Jobs keep running. Returns ERR_INVALID if the cluster's definition
 * of TFJobs is another one, which prunes what is written into a status
 * (kube/tfjob_objects.h). */
int operator_run(const struct operator_settings *settings, struct err *err) MUST_USE;

/* Whether all TFJobs were listed, and no other operator is the leader. */
bool operator_is_leading(const struct controller *controller);
/* Why this TFJob, as read from the cluster, is waiting: the first reason that `muster status`
 * prints, as {"reason": "ImagePullBackOff", "message": "worker-0 cannot pull its image (…): …"}.
 * NULL: it is not waiting, or another operator manages it. Borrowed until the loop runs. */
const struct json *operator_waiting_reason(const struct controller *controller,
					   const struct json *tfjob);
void operator_write_metrics(const struct controller *controller, struct text *text);

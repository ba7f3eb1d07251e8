/* Serves TFJob objects: for each of them the driver that `run` has, with Pods and Services as back
 * end and the API server as store. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/listening.h"
#include "kube/api.h"

struct operator_settings {
	kube_log_in_fn log_in;
	void *log_in_data;
	const char *namespace_name; /* "": all of them */
	const char *cluster_domain; /* of addresses, as CUSTOM_CLUSTER_DOMAIN; NULL: none */
	const struct listening *metrics; /* where /metrics is served; NULL: nowhere */
	const struct listening *health; /* and /healthz and /readyz, besides; NULL: nowhere */
	const char *lease_name; /* of which the holder alone acts; NULL: nobody else does */
	/* What people should know: a sentence. */
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* Until a signal asks for the end. Jobs go on. */
int operator_run(const struct operator_settings *settings, struct err *err) MUST_USE;

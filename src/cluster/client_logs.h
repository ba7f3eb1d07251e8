/* The logs of a job on a cluster, fetched into a folder of this machine to be read
 * there, where no muster of this machine does that already; or handed on as they come. New Pods
 * join at once. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cluster/pod_logs.h"
#include "jobs/client.h"
#include "kube/api.h"
#include "spec/job.h"

/* Which job, and where it is asked for. */
struct client_kube_logs_source {
	struct kube_api *api; /* on the request's loop */
	bool gives_api; /* it is taken, and freed with the logs */
	struct job *take_job; /* with its uid and namespace */
	bool is_of_tfjob; /* a TFJob object; else one of `run --on kubernetes` … */
	bool is_untouched; /* … of which Pods that nobody owns are its own (record_is_untouched) */
	/* Where the text goes, with the request's data, if the request has no folder. */
	pod_logs_text_fn on_text;
	void (*on_output)(void *data); /* that was all for now */
};

struct client_logs *client_kube_logs_new(const struct client_kube_logs_source *source,
					 const struct client_logs_request *request) MUST_USE;
/* Nothing is handed on until they are resumed. */
void client_kube_logs_pause(struct client_logs *logs);
void client_kube_logs_resume(struct client_logs *logs);
msec client_kube_logs_known_until(const struct client_logs *logs);
void client_kube_logs_free(struct client_logs *logs); /* NULL is fine */

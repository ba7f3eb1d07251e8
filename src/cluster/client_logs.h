/* The logs of a job on a cluster. They are fetched into a directory of this machine and read from
 * there, unless a muster process of this machine already fetches them; or they are handed to a
 * callback. New Pods are included immediately. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cluster/pod_logs.h"
#include "jobs/client.h"
#include "kube/api.h"
#include "spec/job.h"

/* The job, and the connection to read it with. */
struct client_kube_logs_source {
	struct kube_api *api; /* on the request's loop */
	bool gives_api; /* the API is taken over, and freed with the logs */
	struct job *take_job; /* with its uid and namespace */
	bool is_of_tfjob; /* a TFJob object; else one of `run --on kubernetes` … */
	bool is_untouched; /* … whose Pods without an owner are its own (record_is_untouched) */
	/* Gets the text, with the request's data, if the request has no directory. */
	pod_logs_text_fn on_text;
	void (*on_output)(void *data); /* called when no more text has arrived for now */
};

struct client_logs *client_kube_logs_new(const struct client_kube_logs_source *source,
					 const struct client_logs_request *request) MUST_USE;
/* Until they are resumed, the callback gets no text. */
void client_kube_logs_pause(struct client_logs *logs);
void client_kube_logs_resume(struct client_logs *logs);
msec client_kube_logs_known_until(const struct client_logs *logs);
void client_kube_logs_free(struct client_logs *logs); /* NULL is fine */

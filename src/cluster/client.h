/* The jobs of one namespace of a cluster, or of all namespaces: a client (jobs/client.h) that uses
 * their ConfigMaps.
 *
 * A change is written there, and the supervisor's own watch wakes it. A client waits for changes by
 * watches, which stay open from one wait to the next. The replicas of a status are overlaid with
 * the current state of their Pods, since the job may have no supervisor that writes it. */
#pragma once

#include "base/err.h"
#include "cluster/pod_logs.h"
#include "jobs/client.h"
#include "kube/api.h"
#include "kube/login.h"
#include "spec/job.h"

/* The texts are copied. */
struct client_kube_settings {
	kube_log_in_fn log_in; /* for each connection it opens */
	void *log_in_data;
	const char *namespace_name; /* KUBE_ALL_NAMESPACES: the client can only list */
	const char *choice; /* options that select the cluster: spec/job.h */
	const char *state_folder; /* where this machine records jobs and stores their logs */
	/* The cluster does not respond for now; requests are repeated. May be NULL. */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

/* Errors of the login; no request is sent yet. */
int client_kube_new(const struct client_kube_settings *settings, struct client **ret_client,
		    struct err *err) MUST_USE;

/* The jobs of a cluster as `ps` lists them. Runs the loop until all pages were read; rows are those
 * of `list` in jobs/client.h. `namespace_name` may be KUBE_ALL_NAMESPACES. */
int client_kube_list(struct kube_api *api, const char *namespace_name, struct client_row **ret_rows,
		     size_t *ret_count, struct err *err) MUST_USE;

/* The logs of a job. They are fetched into a directory of this machine and read from
 * there, unless a muster process of this machine already fetches them; or they are handed to a
 * callback. New Pods are included immediately. */

/* The job, and the connection to read it with. */
struct client_kube_logs_source {
	struct kube_api *api; /* on the request's loop */
	bool gives_api; /* the API is taken over, and freed with the logs */
	struct job *take_job; /* with its uid and namespace */
	bool is_of_tfjob; /* a TFJob object; else one of `run --on kubernetes` … */
	bool is_untouched; /* … whose Pods without an owner are its own (record_is_untouched) */
	/* Gets the text, with the request's data, if the request has no directory. */
	pod_logs_text_fn on_text;
	void (*on_output)(void *data); /* no more text has arrived for now; may be NULL */
};

struct client_logs *client_kube_logs_new(const struct client_kube_logs_source *source,
					 const struct client_logs_request *request) MUST_USE;
/* Until they are resumed, the callback gets no text. */
void client_kube_logs_pause(struct client_logs *logs);
void client_kube_logs_resume(struct client_logs *logs);
msec client_kube_logs_known_until(const struct client_logs *logs);
void client_kube_logs_free(struct client_logs *logs); /* NULL is fine */

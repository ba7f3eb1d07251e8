/* The jobs of one namespace of a cluster, or of all namespaces: a client (jobs/client.h) that uses
 * their ConfigMaps.
 *
 * A change is written there, and the supervisor's own watch wakes it. A client waits for changes by
 * watches, which stay open from one wait to the next. The replicas of a status are overlaid with
 * the current state of their Pods, since the job may have no supervisor that writes it. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "jobs/client.h"
#include "kube/login.h"

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

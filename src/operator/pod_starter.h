/* Starts the training in Pods whose server waits for its configuration (serve/pod_server.h, and
 * that of ElasticDL's images). As soon as a Pod is running, it gets its configuration and the order
 * to run.
 *
 * Both sides know the Secret that the Pods name (spec/elasticdl.h). The starter creates it, and the
 * TFJob owns it.
 *
 * Requests go through the API server (pods/proxy), which reaches Pods from outside of the cluster
 * too. The configuration comes from the Pod's own TF_CONFIG: its addresses are names, which stay
 * when a replica restarts. The state of an earlier process is read from the server in the Pod, so
 * that nothing is started twice. An old server cannot report it: so a Pod is marked before it is
 * asked to run. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "kube/api.h"
#include "kube/job_cache.h"
#include "spec/job.h"

struct pod_starter;

struct pod_starter_settings {
	struct kube_api *api;
	struct job_cache *cache; /* for TFJobs */
	const struct job *job; /* with pod_server_port and uid; both must outlive the starter */
	/* Why a Pod does not start, called for each try; it keeps retrying. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

struct pod_starter *pod_starter_new(const struct pod_starter_settings *settings) MUST_USE;
void pod_starter_free(struct pod_starter *starter); /* NULL is fine */

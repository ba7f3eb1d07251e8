/* Starts the training in Pods whose server waits to be told who they are (serve/pod_server.h, and
 * that of ElasticDL's images): as soon as a Pod runs, its configuration and the order to run.
 *
 * Both sides know the Secret that the Pods name (spec/elasticdl.h). The starter makes it, and the
 * TFJob owns it.
 *
 * It asks through the API server (pods/proxy), which reaches Pods from outside of the cluster too.
 * The configuration is what the Pod's own TF_CONFIG says: its addresses are names, which stay when
 * a replica is started again. What came of an earlier process is asked of the server in the Pod, so
 * that nothing is started twice. An old server does not know: a Pod is marked before it is asked to
 * run. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "kube/api.h"
#include "kube/job_cache.h"
#include "spec/job.h"

struct pod_starter;

struct pod_starter_settings {
	struct loop *loop;
	struct kube_api *api;
	struct job_cache *cache; /* of TFJobs */
	const struct job *job; /* with a pod_server_port and its uid; both outlive the starter */
	/* Why a Pod does not begin, again for each try; it goes on trying. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

struct pod_starter *pod_starter_new(const struct pod_starter_settings *settings) MUST_USE;
void pod_starter_free(struct pod_starter *starter); /* NULL is fine */

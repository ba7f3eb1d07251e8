/* The back end for Kubernetes: the replicas of one job as Pods under one headless Service.
 *
 * What is observed is what the cache shows of the job's Pods (kube/job_cache.h), with what was
 * started and cannot be seen there yet laid over it: a decision must not start twice what it
 * started a moment ago. All calls of one pass are on their way at once; what became of them is seen
 * in the cache only. Names are the same in every attempt, so a start waits in here until the Pod
 * before it is gone. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cluster/tfjob_events.h"
#include "io/loop.h"
#include "jobs/backend.h"
#include "kube/api.h"
#include "kube/job_cache.h"
#include "kube/pod_group.h"
#include "kube/tfjob_objects.h"
#include "reconcile/startup.h"
#include "spec/job.h"
#include "spec/job_secret.h"

struct output_copies; /* logs/output_copies.h */

struct backend_kube_settings {
	struct loop *loop;
	struct kube_api *api;
	struct job_cache *cache; /* of the job's namespace; outlives the back end */
	const struct job *job; /* outlives the back end; its uid is that of the owner */
	const char *log_folder; /* where the logs of its Pods are kept; NULL: they are not */
	struct output_copies *copies; /* of those logs; NULL: none */
	bool is_tfjob; /* a TFJob object, which owns what is made (kube/tfjob_objects.h); else the
			  job's ConfigMap does */
	struct tfjob_manner manner; /* of a TFJob's objects */
	const struct gang *gang; /* which places a TFJob's Pods together; NULL: none does. Outlives
				    the back end */
	const struct job_secret *secret; /* what is made again when it is gone; NULL: nobody has it
					  */
	bool is_new; /* the job was made a moment ago by us, so it has no Pods and no Service */
	backend_news_fn on_news;
	/* Output was added to a log. May be NULL. */
	void (*on_output)(void *data);
	/* The start of its Pods has come further, or back. May be NULL. */
	void (*on_startup)(const struct startup *startup, void *data);
	/* Something that needs telling but no decision; of several in a row that are the same the
	 * first. May be NULL. */
	void (*on_trouble)(const struct err *err, void *data);
	/* Gets what becomes of a TFJob's objects; outlives the back end. NULL: nobody reads it. */
	struct tfjob_events *events;
	/* The end of this replica's Pod is held back: folders are to be fetched from it. Its
	 * process is told to end all the same. NULL: none is. */
	bool (*holds)(const struct job *job, const char *role, int index, void *data);
	void *data;
};

/* Unless the job is new, it observes nothing before the cluster was looked at once: on_news says
 * when. */
struct backend *backend_kube_new(const struct backend_kube_settings *settings) MUST_USE;
/* What it observes of a job that is about to be made. */
struct observed backend_kube_observe_new(const struct job *job, struct arena *arena);
/* The Pods and the Service are known, and not just being listed anew. */
bool backend_kube_is_ready(const struct backend *backend);
/* Nothing is on its way any more: no call, and no log of a Pod that has ended. News come when that
 * may have changed. */
bool backend_kube_is_quiet(const struct backend *backend);
/* Ends are held back, and none is waited for any more: each process has ended, has had its grace
 * time, or cannot be told to end. News come when that may have changed. */
bool backend_kube_is_held_up(const struct backend *base);
/* Lets the ends that are held back go; in a hurry without any grace time. */
void backend_kube_release(struct backend *base, bool is_hurried);
/* The job has ended: a Service or file that was refused is not tried again. */
void backend_kube_drop_refused(struct backend *base);
/* The job has ended and its Pods stay: the Secret of its variables goes, where the login may delete
 * it. A call is on its way then. */
void backend_kube_end_secret(struct backend *base);
/* The job has ended: its PodGroup goes, where there is one. */
void backend_kube_end_pod_group(struct backend *base);
/* No Pod, Service or file of the job is left, as the cluster was seen. */
bool backend_kube_is_empty(const struct backend *backend);

/* The back end for Kubernetes: the replicas of one job as Pods under one headless Service.
 *
 * An observation is what the cache shows of the job's Pods (kube/job_cache.h), overlaid with the
 * starts and stops that the cache does not show yet. Without this, a decision would start the same
 * Pod twice. All calls of one reconcile pass run at the same time; only the cache tells their
 * effect. A Pod has the same name in every attempt, so a start waits in the back end until the
 * previous Pod was deleted. */
#pragma once

#include "base/err.h"
#include "cluster/tfjob_events.h"
#include "jobs/backend.h"
#include "kube/api.h"
#include "kube/job_cache.h"
#include "kube/pod_group.h"
#include "kube/tfjob_objects.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "spec/job_files.h"

struct output_copies; /* logs/output_copies.h */

struct backend_kube_settings {
	struct kube_api *api;
	struct job_cache *cache; /* of the job's namespace; outlives the back end */
	const struct job *job; /* outlives the back end; its uid is the owner's */
	const char *log_folder; /* where Pod logs are stored; NULL: they are not stored */
	struct output_copies *copies; /* of Pod logs; NULL: none */
	bool is_tfjob; /* a TFJob object owns the created objects; else the job's ConfigMap */
	struct tfjob_manner manner; /* of a TFJob's objects; any other job has one Service */
	const struct gang *gang; /* the scheduler that places a TFJob's Pods together; NULL: none.
				    Outlives the back end */
	const struct job_secret *secret; /* to create it again after a deletion; NULL: not known */
	bool is_new; /* this process has just created the job: it has no Pods and no Service */
	backend_news_fn on_news;
	/* Output was added to a log. May be NULL. */
	void (*on_output)(void *data);
	/* Called when the startup of the Pods has advanced or fallen back. May be NULL. */
	void (*on_startup)(const struct startup *startup, void *data);
	/* Called with a problem to report that needs no decision; equal ones in a row are reported
	 * once. May be NULL. */
	void (*on_trouble)(const struct err *err, void *data);
	/* Gets the Events about a TFJob's objects; outlives the back end. NULL: no Events. */
	struct tfjob_events *events;
	/* Whether the deletion of this replica's Pod has to wait, because its directories are still
	 * to be fetched. Its process is asked to exit all the same. NULL: no deletion waits. */
	bool (*holds)(const struct job *job, const char *role, int index, void *data);
	void *data;
};

/* Unless the job is new, the back end observes nothing until all was listed; then it calls
 * on_news. */
struct backend *backend_kube_new(const struct backend_kube_settings *settings) MUST_USE;
/* The observation of a job that is about to be created. */
struct observed backend_kube_observe_new(const struct job *job, struct arena *arena);
/* Whether Pods and Service are known, and no list is in progress. */
bool backend_kube_is_ready(const struct backend *backend);
/* Whether nothing is in progress: no call, and no log of a Pod that has exited. on_news is called
 * when that may have changed. */
bool backend_kube_is_quiet(const struct backend *backend);
/* Whether deletions wait (settings.holds) although no process is waited for: each has exited, has
 * used its grace period, or cannot be signaled. on_news is called when that may have changed. */
bool backend_kube_is_held_up(const struct backend *base);
/* Makes the deletions that wait; if hurried, without a grace period. */
void backend_kube_release(struct backend *base, bool is_hurried);
/* After the job has finished: rejected Services and files are not tried again. */
void backend_kube_drop_refused(struct backend *base);
/* After the job has finished and its Pods stay: deletes the Secret of its variables, where the
 * login has that permission. The call is then in progress. */
void backend_kube_end_secret(struct backend *base);
/* After the job has finished: deletes its PodGroup, if it has one. */
void backend_kube_end_pod_group(struct backend *base);
/* Whether the cluster was listed and showed no Pod, Service or file of the job. */
bool backend_kube_is_empty(const struct backend *backend);

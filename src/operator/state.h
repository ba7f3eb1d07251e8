/* The state of an operator and of the TFJobs that it manages. The lowest layer of its files:
 *
 *     process.c  what is watched, the Lease, the end
 *     job.c      work on one TFJob, also one that cannot be run
 *     state.c    this: due passes, messages and counts
 *
 * Only they include it. */
#pragma once

#include "base/text.h"
#include "cluster/backend.h"
#include "cluster/tfjob_events.h"
#include "console/exporter.h"
#include "jobs/reconciler.h"
#include "kube/job_cache.h"
#include "kube/lease_keeper.h"
#include "kube/mirror.h"
#include "operator/operator.h"
#include "operator/pod_starter.h"
#include "reconcile/queue.h"
#include "spec/job.h"
#include "status/metrics.h"
#include "supervise/background.h"

#define OPERATOR_MANAGER "kubeflow.org/training-operator"
#define OPERATOR_REFUSED "FailedValidation" /* training-operator's word, which it never uses */
#define OPERATOR_FIRST_PAUSE MSEC_PER_SECOND /* after a failure; doubles each time */
#define OPERATOR_PASSES 18 /* concurrent passes: each waits for the server to store its status */
#define OPERATOR_LONGEST_PAUSE (60 * MSEC_PER_SECOND)

/* What is watched together: a namespace, or all. */
struct scope {
	struct controller *controller;
	const char *namespace_name; /* KUBE_ALL_NAMESPACES: all */
	struct job_cache *cache;
	struct kube_mirror *jobs; /* of struct managed_job */
	bool is_synced; /* the jobs were listed once */
};

struct controller {
	const struct operator_settings *settings;
	struct kube_api *api;
	struct scope *scopes;
	size_t n_scopes;
	struct queue *queue;
	struct loop_watch *timer;
	struct end_signals signals;
	struct tfjob_events *events;
	struct lease_keeper *lease; /* NULL: no other operator exists */
	enum lease_standing told; /* the standing reported last */
	bool has_held; /* held the Lease before */
	struct exporter *metrics, *health;
	struct metrics_jobs counts;
	struct metrics_passes passes;
	int64_t n_errors; /* passes that failed */
	bool is_away; /* the outage of the server was reported, and no pass has succeeded since */
	bool is_ending;
	struct err fault; /* why it ends; code 0: it was asked to */
	char *last_trouble;
	void (*end)(struct controller *controller); /* releases the Lease first */
};

struct managed_job {
	struct controller *controller;
	struct scope *scope;
	char *key; /* NAMESPACE/NAME */
	char *name_space; /* the tenant whose turn it takes */
	char *uid;
	struct store *store;
	struct job *job; /* as it was when work on it began; NULL: no work */
	struct backend *backend;
	struct reconciler *reconciler;
	struct pod_starter *starter; /* NULL: its Pods start by themselves */
	struct json *waiting; /* of operator_waiting_reason */
	struct refusal *refusal; /* being written; NULL: none */
	int n_refusal_failures; /* in a row */
	char *trouble; /* the last error reported for it; NULL: none */
	int restarts; /* of its status, as counted so far; -1: no status seen */
	int64_t pass_start; /* in microseconds */
	bool is_passing; /* its reconciler is running, and the queue waits for it */
	bool is_of_others; /* another manager owns it */
	bool is_end_counted;
	bool is_over; /* the objects of its work may be freed */
	bool is_terminating; /* it is being deleted, with all its objects: nothing is created */
};

static inline const char *managed_job_name(const struct managed_job *job)
{
	return strchr(job->key, '/') + 1;
}

static inline bool operator_is_manager(const char *managed_by) /* NULL: no manager is named */
{
	return !managed_by || text_equals(managed_by, OPERATOR_MANAGER);
}

static inline bool operator_manages(const struct job *job)
{
	return operator_is_manager(job->managed_by);
}

/* Due passes. */
void operator_arm(struct controller *controller);
/* Reconciles the job at `due` or earlier. */
void operator_enqueue(struct managed_job *job, instant due);
/* Whether we hold the Lease. A Lease that is being released does not count, whatever its time. */
bool operator_may_act(const struct controller *controller);

/* Messages: repeats are dropped, and an unreachable server is reported once for all jobs. */
void operator_report(struct controller *controller, const char *sentence);
void operator_report_error(struct controller *controller, const struct err *err);
void operator_report_job_error(const struct managed_job *job, const struct err *err);
/* The server responds again. */
void operator_clear_outage(struct controller *controller);
/* Ends the operator because of a permanent fault. */
void operator_stop_for(struct controller *controller, const struct err *fault);
/* A reconcile pass failed. Reported once, and on the job itself, for its owner. */
void operator_failed(struct managed_job *job, const struct job *own, const struct err *err);
/* Its time to live has passed. */
void operator_report_removed(const struct managed_job *job, const struct job *own);
/* A reconciler_note_fn for managed jobs: counts the note and sends its Event. */
void operator_send_event(const struct job *own, const struct note *note, void *data);

/* From a TFJob, as observed on the cluster. */
struct managed_job *managed_job_new(struct scope *scope, const struct json *object) MUST_USE;
void managed_job_free(struct managed_job *job);
/* Begins a reconcile pass, if there is something to do. */
void managed_job_reconcile(struct managed_job *job);
/* The TFJob was deleted, which may be seen before the deletion is answered. */
void managed_job_report_removed(const struct managed_job *job);
/* Frees the objects of its work: the next pass starts from scratch. */
void managed_job_end_work(struct managed_job *job);

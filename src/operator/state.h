/* What an operator knows of itself and of the TFJobs that it serves. The lowest of its files:
 *
 *     process.c  what is watched, the Lease, the end
 *     job.c      work on one TFJob
 *     refusal.c  a TFJob that nothing can be made of
 *     state.c    this: what is due, what is said and counted
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
#include "supervise/end_signals.h"

#include <string.h>

#define OPERATOR_MANAGER "kubeflow.org/training-operator"
#define OPERATOR_REFUSED "FailedValidation" /* as training-operator names it, and never uses it */
#define OPERATOR_FIRST_PAUSE MSEC_PER_SECOND /* after what fails; then twice as long */
#define OPERATOR_PASSES 18 /* at once: each waits for a server to take its status */
#define OPERATOR_LONGEST_PAUSE (60 * MSEC_PER_SECOND)

/* What is watched as one: a namespace, or all of them. */
struct scope {
	struct controller *controller;
	const char *namespace_name; /* KUBE_ALL_NAMESPACES: all */
	struct job_cache *cache;
	struct kube_mirror *jobs; /* of struct managed_job */
	bool is_synced; /* the jobs were listed once */
};

struct controller {
	const struct operator_settings *settings;
	struct loop *loop;
	struct kube_api *api;
	struct scope *scopes;
	size_t n_scopes;
	struct queue *queue;
	struct loop_watch *timer;
	struct end_signals signals;
	struct tfjob_events *events;
	struct lease_keeper *lease; /* NULL: nobody else acts */
	enum lease_standing told; /* of which was spoken last */
	bool has_held; /* the Lease, before */
	struct exporter *metrics, *health;
	struct metrics_jobs counts;
	struct metrics_passes passes;
	int64_t n_errors; /* passes that failed */
	bool is_away; /* the server was not reached, which was told, and no pass has ended well
			 since */
	bool is_ending;
	struct err fault; /* what it ends with; code 0: it was asked to */
	char *last_trouble;
	struct err err; /* with which it cannot begin */
	void (*end)(struct controller *controller); /* leaves the Lease to others first */
};

struct managed_job {
	struct controller *controller;
	struct scope *scope;
	char *key; /* NAMESPACE/NAME */
	char *name_space; /* its turn is that of its namespace */
	char *uid;
	struct store *store;
	struct job *job; /* as it was when work on it began; NULL: nothing is at work */
	struct backend *backend;
	struct reconciler *reconciler;
	struct pod_starter *starter; /* NULL: its Pods start by themselves */
	struct refusal *refusal; /* that is being written; NULL: none is */
	msec refusal_pause; /* after the next try of that which fails */
	char *trouble; /* that was told of it last; NULL: none was */
	int restarts; /* of its status, as far as they were counted; -1: none was seen */
	int64_t pass_start; /* in microseconds */
	bool is_passing; /* its reconciler is at work, and the queue waits for it */
	bool is_of_others; /* another manager serves it */
	bool is_end_counted;
	bool is_over; /* what is at work may go */
	bool is_terminating; /* somebody deletes it: what is its own goes with it, and nothing is
				made */
};

static inline const char *managed_job_name(const struct managed_job *job)
{
	return strchr(job->key, '/') + 1;
}

static inline bool operator_is_manager(const char *managed_by) /* NULL: nobody is named */
{
	return !managed_by || text_equals(managed_by, OPERATOR_MANAGER);
}

static inline bool operator_manages(const struct job *job)
{
	return operator_is_manager(job->managed_by);
}

/* What is due. */
void operator_arm(struct controller *controller);
/* Not later than `due`. */
void operator_enqueue(struct managed_job *job, msec due);
/* What is being given back is not held any more, whatever its time. */
bool operator_may_act(const struct controller *controller);

/* What is said: the same once, and of a server that is not reached one sentence for all. */
void operator_report(struct controller *controller, const char *sentence);
void operator_report_error(struct controller *controller, const struct err *err);
void operator_report_job_error(const struct managed_job *job, const struct err *err);
/* It answers. */
void operator_clear_outage(struct controller *controller);
/* Nothing that is done would be right. */
void operator_stop_for(struct controller *controller, const struct err *fault);
/* A reconcile pass has failed. Said once, and on the job itself, where its owner looks. */
void operator_failed(struct managed_job *job, const struct job *own, const struct err *err);
/* Its time to live was over. */
void operator_report_removed(const struct managed_job *job, const struct job *own);
/* A reconciler_note_fn of a served job: counts the note and sends its Event. */
void operator_send_event(const struct job *own, const struct note *note, void *data);

/* A TFJob that nothing can be made of is Failed, and says why: it never waits in silence. False:
 * there is nothing against the job, or it has ended, and is cleaned up as any other. */
bool operator_refuse(struct managed_job *job);
/* What cannot be read has no roles for us. */
void operator_refuse_unread(struct managed_job *job, const struct err *fault);
void operator_refusal_free(struct refusal *refusal); /* NULL is fine */
/* The job that is being removed; NULL: none is. */
const struct job *operator_refusal_removes(const struct refusal *refusal);
bool operator_is_finished(const struct managed_job *job);

/* A TFJob, as the cluster shows it. */
struct managed_job *managed_job_new(struct scope *scope, const struct json *object) MUST_USE;
void managed_job_free(struct managed_job *job);
/* Begins a reconcile pass, where there is something to be done. */
void managed_job_reconcile(struct managed_job *job);
/* It is gone, which may be seen before its removal is answered. */
void managed_job_report_removed(const struct managed_job *job);
/* What is at work for it goes: the next look begins anew. */
void managed_job_end_work(struct managed_job *job);

/* The current state of one job on a cluster, for clients that read and wait: its ConfigMap, its
 * Pods and its Lease, or a TFJob object and its Pods. They are followed in the view's own cache
 * (kube/job_cache.h). */
#pragma once

#include "base/json.h"
#include "io/loop.h"
#include "kube/api.h"
#include "kube/job_cache.h"
#include "status/status.h"
#include "store/store.h"

struct job_view_settings {
	struct kube_api *api; /* the caller that waits runs its loop */
	const char *namespace_name; /* lives as long as the view */
	bool is_of_tfjobs; /* the job is a TFJob object, not one of `run --on kubernetes` */
	/* The view is out of date and keeps trying; reported once until data arrive. */
	void (*on_trouble)(const char *sentence, void *data);
	/* Called while the loop runs for another caller than job_view_wait: the state has changed,
	 * or the view has failed, with the error that job_view_sync returns. May be NULL. */
	void (*on_change)(void *data);
	void *data;
};

/* Only job_view.c writes it. */
struct job_view {
	struct job_view_settings settings;
	char *name;
	/* These need a view that is synced. */
	int64_t n_changes; /* goes up with every change, from 1 */
	/* The record as last seen, also after its deletion; NULL when there never was one. */
	const struct store_record *record;
	struct store_record stored;
	int64_t record_change; /* the number of the change that last changed the record */
	bool is_gone; /* the job was deleted, or another job has its name */

	struct job_cache *cache;
	struct job_follower *seen;
	bool knows_lease; /* it was read, or may not be read */
	bool is_lease_refused; /* the login may not read Leases */
	char *supervisor; /* that the Lease names; "": none */
	struct loop_watch *lease_timer; /* until the holder should have renewed it */
	struct job *job; /* of the first record */
	struct err err; /* why the view has failed */
	bool is_waiting; /* the loop runs for it */
	bool is_in_trouble; /* reported; nothing has come since */
};

/* Starts to watch. */
struct job_view *job_view_new(const struct job_view_settings *settings, const char *name) MUST_USE;
void job_view_free(struct job_view *view); /* NULL is fine */

/* Runs the loop until all objects were seen once. Errors of the API. */
int job_view_sync(struct job_view *view, struct err *err) MUST_USE;
/* As job_view_sync; then waits until the view has changed after `change`, a number of n_changes, or
 * until `until`. Once all was seen, only a revoked permission is an error. */
int job_view_wait(struct job_view *view, int64_t change, instant until, struct err *err) MUST_USE;

/* These need a view that is synced. */
/* Whether the job has no active supervisor: no restarts, and changes have no effect. */
bool job_view_is_unsupervised(const struct job_view *view);
/* The job's Pods that exist; or only those that have not exited. */
size_t job_view_pod_count(const struct job_view *view, bool only_live);
/* The program that manages a TFJob, as CLIENT_SERVED_BY has it. Borrowed. */
const char *job_view_operator(const struct job_view *view);
/* The TFJob with its status, replicas as their Pods show them, and its supervisor or operator
 * (CLIENT_SUPERVISED_BY, CLIENT_SERVED_BY) where known. The caller frees it. */
int job_view_read(const struct job_view *view, struct json **ret_tfjob, struct err *err) MUST_USE;

/* Its parts that are pure. */

/* Sets the replica of this Pod, in the same attempt, to where the Pod is and what blocks it; and
 * its state, unless its exit is already recorded. The texts are borrowed from the Pod. */
void job_view_pod_lay_over(const struct job_pod *pod, struct replica_status *replica);

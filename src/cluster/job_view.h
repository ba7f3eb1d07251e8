/* One job on a cluster as it is now: its ConfigMap, its Pods and its Lease, or a TFJob object and
 * its Pods, followed in a cache of its own (kube/job_cache.h). For clients, which look and wait. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_view;

struct job_view_settings {
	struct loop *loop; /* run by the caller that waits */
	struct kube_api *api;
	const char *namespace_name; /* lives as long as the view */
	bool is_of_tfjobs; /* the job is a TFJob object, and of no `run --on kubernetes` */
	/* It is not up to date for now, and goes on trying; told once until something comes. */
	void (*on_trouble)(const char *sentence, void *data);
	/* While the loop runs for somebody else than job_view_wait: something has changed, or it
	 * cannot go on, which job_view_sync says. May be NULL. */
	void (*on_change)(void *data);
	void *data;
};

/* Begins to watch. */
struct job_view *job_view_new(const struct job_view_settings *settings, const char *name) MUST_USE;
void job_view_free(struct job_view *view); /* NULL is fine */
const char *job_view_name(const struct job_view *view);
bool job_view_is_of_tfjobs(const struct job_view *view);

/* Runs the loop until everything was seen once. Errors of the API. */
int job_view_sync(struct job_view *view, struct err *err) MUST_USE;
/* The same, and until something has changed after `change`, a number that job_view_change gave, or
 * the moment `until` has come. What fails for a while is no error once all was seen; a right that
 * is taken away is. */
int job_view_wait(struct job_view *view, int64_t change, msec until, struct err *err) MUST_USE;

/* Of a view that is synced: */
int64_t job_view_change(const struct job_view *view); /* goes up with every change, from 1 */
/* The record as it was last, also when it is gone by now; NULL when there never was one. */
const struct store_record *job_view_record(const struct job_view *view);
/* The job is gone, or another one has its name. */
bool job_view_is_gone(const struct job_view *view);
/* The number of the change that the record is as of. */
int64_t job_view_record_change(const struct job_view *view);
/* The job has no active supervisor: nothing is restarted, and nothing of what its document asks
 * for is done. */
bool job_view_is_unsupervised(const struct job_view *view);
/* Pods of the job that are there. */
size_t job_view_pod_count(const struct job_view *view);
size_t job_view_live_pod_count(const struct job_view *view); /* that have not ended */
/* Of a TFJob: what serves it, as CLIENT_SERVED_BY has it. Borrowed. */
const char *job_view_operator(const struct job_view *view);
/* The TFJob with its status, replicas as their Pods show them, and who supervises or serves it
 * (CLIENT_SUPERVISED_BY, CLIENT_SERVED_BY) where that is known. The caller frees it. */
int job_view_read(const struct job_view *view, struct json **ret_tfjob, struct err *err) MUST_USE;

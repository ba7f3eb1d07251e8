/* The store of jobs on a cluster: one ConfigMap for each job, in one namespace.
 *
 * Reading costs no call of a job that is known: the store keeps what it read or wrote last, and
 * the watch of the ConfigMaps hands on what others have changed (store_kube_observe). A change of a
 * version that is no longer the newest is refused by the server, whatever was kept; what it met is
 * known when its `done` is called.
 *
 * All functions but begin_change and begin_remove wait for their call: they run the loop, so they
 * are for callers that do not run it.
 *
 * The uid of a job here is its ConfigMap's: read the record after it was made. There are no
 * claims: a Pod has all ports for itself. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "store/store.h"

/* The loop is the one that the API was made with; both outlive the store. Stopping the loop
 * while a call is waited for gives the call up (ERR_UNREACHABLE). */
struct store *store_kube_new(struct loop *loop, struct kube_api *api,
			     const char *namespace_name) MUST_USE;

/* The same of TFJob objects, which somebody else makes: create, replace and list are none of its
 * functions, and only the status of a job can be changed. */
struct store *store_kube_of_tfjobs(struct loop *loop, struct kube_api *api,
				   const char *namespace_name) MUST_USE;

/* From here on the store knows the job of this uid alone, from what it is told and changes: what is
 * not known, and a later one of the same name, counts as not found, and reading waits for nothing.
 */
void store_kube_keep_to(struct store *store, const char *uid);

/* Somebody changed these fields of the document, which do not count. */
typedef void (*store_kube_changed_fn)(const char *fields, void *data);
/* From here on the document of the job that is kept to is this one, and of what others write into
 * it, only what spec/pinned_job.h takes; the rest is told once for each change. */
void store_kube_pin(struct store *store, const struct json *document,
		    store_kube_changed_fn on_changed, void *data);

/* A ConfigMap as a watch saw it. What is older than what the store knows changes nothing. */
void store_kube_observe(struct store *store, const struct json *config_map);
/* The ConfigMap of this job is gone, as a watch saw it. */
void store_kube_observe_deletion(struct store *store, const char *job_name);

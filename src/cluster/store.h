/* The store of jobs on a cluster: one ConfigMap for each job, in one namespace.
 *
 * Reading the job that was read or written last costs no call: the store keeps it, and the watch of
 * the ConfigMaps hands on other clients' changes (store_kube_observe). The server rejects a change
 * of a version that is no longer the newest, whatever the store has kept; the store knows the newer
 * version when `done` of the change is called.
 *
 * All functions except begin_change and begin_remove run the loop until their call is answered, so
 * they are for callers that do not run it. `list` is not among them. The uid of a job in this store
 * is its ConfigMap's: read the record after it was created. There are no claims: a Pod has all
 * ports for itself. */
#pragma once

#include "base/json.h"
#include "kube/api.h"
#include "store/store.h"

/* The API outlives the store. Stopping its loop during such a call makes it fail
 * (ERR_UNREACHABLE). */
struct store *store_kube_new(struct kube_api *api, const char *namespace_name) MUST_USE;

/* The same for TFJob objects, which other clients create: create and replace are not among its
 * functions, and only the status of a job can be changed. */
struct store *store_kube_of_tfjobs(struct kube_api *api, const char *namespace_name) MUST_USE;

/* From here on the store knows only the job of this uid, by store_kube_observe and its own changes.
 * Any other counts as not found, also a later one of this name, and reading makes no call. */
void store_kube_keep_to(struct store *store, const char *uid);

/* Other clients changed these fields of the document; the changes are ignored. */
typedef void (*store_kube_changed_fn)(const char *fields, void *data);
/* From here on this is the document of the job of store_kube_keep_to. Of other clients' changes,
 * those that spec/pinned_job.h accepts are taken; `on_changed` reports each of the others once. */
void store_kube_pin(struct store *store, const struct json *document,
		    store_kube_changed_fn on_changed, void *data);

/* A ConfigMap as a watch saw it. An older version than the store's has no effect. */
void store_kube_observe(struct store *store, const struct json *config_map);
/* The ConfigMap of this job was deleted, as a watch saw it. */
void store_kube_observe_deletion(struct store *store, const char *job_name);

/* The store of jobs on a cluster: one ConfigMap for each job, in one namespace.
 *
 * The calls of a store are waited for (store/store.h), and a driver acts on nothing before its
 * status is written: so each change is one call on a connection and a loop of the store's own, and
 * its caller stands still for one round trip. Reading costs none: the store keeps what it read or
 * wrote last, and whoever watches the ConfigMaps hands on what others have changed
 * (store_kube_saw). A change of a version that is no longer the newest is refused by the server,
 * whatever was kept.
 *
 * The uid of a job here is its ConfigMap's: read the record after it was made. There are no
 * claims: a Pod has all ports for itself. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "store/store.h"

/* The loop is the one that the API was made with; both outlive the store. Nobody runs the loop
 * while a call is waited for. */
struct store *store_kube_new(struct loop *loop, struct kube_api *api,
			     const char *namespace_name) MUST_USE;
/* Its calls go over these from here on. */
void store_kube_move(struct store *store, struct loop *loop, struct kube_api *api);

/* From here on the store knows the job of this uid alone: a later one of the same name counts as
 * not found. */
void store_kube_keep_to(struct store *store, const char *uid);

/* Told when a call begins to be waited for, and when that is over: meanwhile only the store's loop
 * runs, and whoever stops it gives the call up (ERR_UNREACHABLE). */
typedef void (*store_kube_wait_fn)(bool is_waiting, void *data);
void store_kube_on_wait(struct store *base, store_kube_wait_fn fn, void *data);

/* A ConfigMap as a watch saw it. What is older than what the store knows changes nothing. */
void store_kube_saw(struct store *store, const struct json *config_map);
/* The ConfigMap of this job is gone, as a watch saw it: the next reader asks the server. */
void store_kube_saw_gone(struct store *store, const char *job_name);

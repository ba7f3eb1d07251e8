/* Holds the Lease of one job or of an operator for this process, or waits until it may. It executes
 * on a cluster what reconcile/lease.h decides. */
#pragma once

#include "base/err.h"
#include "io/loop.h"
#include "kube/api.h"
#include "kube/lease.h"
#include "reconcile/lease.h"
#include "spec/job.h"

#include <stdbool.h>

struct lease_keeper_settings {
	struct kube_api *api;
	const struct job *job; /* with its uid; outlives the keeper; NULL: an operator's Lease, see
				  the next line */
	const char *name, *namespace_name; /* of an operator's Lease; namespace NULL: the login's */
	instant made_at; /* when we began to create the job, so that no other process holds its
			    Lease; INSTANT_UNSET: the job already existed */
	bool must_exist; /* do not create a missing Lease */
	bool may_be_first; /* if the first read finds no Lease, create it immediately, without
			      waiting whether a holder creates it again */
	loop_fn on_change; /* called when the standing changed, after the first write, when a
			      release or removal is done, or when the Lease is missing */
	/* A request failed and is being retried. Called for each failure. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

/* Only lease_keeper.c writes it. */
struct lease_keeper {
	struct lease_keeper_settings settings;
	char *holder; /* this process */
	char *name; /* of the Lease */
	struct lease lease;
	struct kube_lease seen; /* the object as last read */
	enum lease_standing told;
	struct kube_call *call;
	struct loop_watch *timer;
	bool is_missing; /* must_exist is set, and the Lease stayed missing for as long as another
			    client may have been about to create it */
	bool is_ending; /* only the last request is still made */
	bool is_done; /* it was given up, or that was tried for long enough */
};

int lease_keeper_new(const struct lease_keeper_settings *settings, struct lease_keeper **ret_keeper,
		     struct err *err) MUST_USE;
void lease_keeper_free(struct lease_keeper *keeper); /* NULL is fine; the Lease stays as it is */

/* The standing at this moment. It is correct even if the process was paused until now. */
enum lease_standing lease_keeper_standing(const struct lease_keeper *keeper);
/* Whether we created or read the Lease. */
bool lease_keeper_has_seen(const struct lease_keeper *keeper);
/* Another holder, present or last: "muster on laptop (process 4711)"; NULL: none. Caller frees. */
char *lease_keeper_supervisor(const struct lease_keeper *keeper) MUST_USE;

/* Give the Lease up: `release` frees it for any holder immediately; `remove` deletes it, because
 * the job has finished. on_change is called when is_done is set. */
void lease_keeper_release(struct lease_keeper *keeper);
void lease_keeper_remove(struct lease_keeper *keeper);

/* Holds the Lease of one job, or of an operator, for this process, or waits until it may: does on a
 * cluster what reconcile/lease.h says. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "reconcile/lease.h"
#include "spec/job.h"

#include <stdbool.h>

struct lease_keeper;

struct lease_keeper_settings {
	struct loop *loop;
	struct kube_api *api;
	const struct job *job; /* with its uid; outlives the keeper; NULL: it is an operator's, */
	const char *name, *namespace_name; /* of this name, there (NULL: the login's) */
	msec made_at; /* when we began to make the job, on the monotonic clock, so that nobody else
			 holds its Lease; MSEC_UNSET: it was there */
	bool must_exist; /* a Lease that is missing is not made */
	bool may_be_first; /* one that is missing at the first look is made at once, not after the
			      time in which a holder would make it again */
	loop_fn on_change; /* the standing has changed; it was written the first time; a release or
			      removal is done; or the Lease is missing */
	/* A call failed, and is tried again: what it was is told anew each time. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

int lease_keeper_new(const struct lease_keeper_settings *settings, struct lease_keeper **ret_keeper,
		     struct err *err) MUST_USE;
void lease_keeper_free(struct lease_keeper *keeper); /* NULL is fine; the Lease stays as it is */

/* As of this moment: right also when the process stood still until now. */
enum lease_standing lease_keeper_standing(const struct lease_keeper *keeper);
/* We have made it, or seen it. */
bool lease_keeper_has_seen(const struct lease_keeper *keeper);
/* It must exist, and does not: nobody made it for as long as somebody may have been about to. */
bool lease_keeper_is_missing(const struct lease_keeper *keeper);
/* Another holder, of now or the last one: "muster on laptop (process 4711)"; NULL: none, or we.
 * Caller frees. */
char *lease_keeper_supervisor(const struct lease_keeper *keeper) MUST_USE;

/* Holds it no longer: leaves it to anybody at once, or removes it, because the job is over.
 * on_change tells when that is done, or was tried for long enough. */
void lease_keeper_release(struct lease_keeper *keeper);
void lease_keeper_remove(struct lease_keeper *keeper);
bool lease_keeper_is_done(const struct lease_keeper *keeper);

/* What is known of a job on a cluster while it is seen through. For the files of
 * cluster/supervision.h alone. */
#pragma once

#include "cluster/supervision.h"
#include "kube/job_cache.h"
#include "kube/lease_keeper.h"
#include "pods/fetching.h"
#include "supervise/supervision.h"

/* What we are to the job, as it was told last; the Lease itself may know better. */
enum supervision_role {
	ROLE_UNKNOWN,
	ROLE_FOLLOWS, /* another watches it */
	ROLE_SUPERVISES,
	ROLE_LAPSED, /* we did; the Lease ran out, or went to another */
};

struct cluster_supervision {
	struct supervision base;
	const struct supervision_kube_request *request;
	struct job *found_job; /* the job, when it was read from the cluster; owned */
	char *foreign_change; /* what others changed, before it can be told; NULL: nothing */
	char *folder; /* where this machine keeps what it knows of the job */
	char *log_folder; /* where its logs go: the same, or logs/attached_logs.h */
	msec made_at; /* when we began to make the job, on the monotonic clock; MSEC_UNSET */

	struct kube_api *api;
	struct job_cache *cache;
	struct job_follower *owner; /* the ConfigMap, as others change it */
	struct lease_keeper *lease;

	enum supervision_role role;
	msec told_at; /* while another supervises it: when we looked at its Pods last */
	int ended_by; /* the signal that ended this and not the job; 0: none */
	struct kube_fetching *fetching; /* the folder that is on its way; NULL: none */
	size_t n_fetched; /* folders that are over */
	int fetch_exit_code; /* of a job that succeeded; 0: all was fetched */
	bool has_fetched; /* nothing more is fetched */
	const struct fetch
		*unsaved; /* the first that did not come and is still there; NULL: none */
	struct err failure; /* why this ended before the job did */
	bool has_started; /* the job, before we attached: so all that its Pods mount is there */
	bool is_fenced; /* nothing is changed without the Lease */
	bool is_detached; /* there is no terminal, or none any more */
	bool is_recorded; /* there is something to delete */
	bool is_removing; /* and its deletion is under way */
};

static inline bool is_attached(const struct cluster_supervision *supervision)
{
	return supervision->request->attach_to;
}

/* What the job is now may be our doing. */
static inline bool has_supervised(const struct cluster_supervision *supervision)
{
	return supervision->role == ROLE_SUPERVISES || supervision->role == ROLE_LAPSED;
}

/* Ends with an error. */
static inline void supervision_kube_fail(struct cluster_supervision *supervision,
					 const struct err *err)
{
	supervision->failure = *err;
	supervision->base.phase = SUPERVISION_CLOSING;
	loop_stop(supervision->base.loop);
}

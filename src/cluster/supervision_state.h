/* The state of a job on a cluster under supervision. Only the files of cluster/supervision.h
 * include it. */
#pragma once

#include "cluster/supervision.h"
#include "kube/job_cache.h"
#include "kube/lease_keeper.h"
#include "pods/fetching.h"
#include "supervise/supervision.h"

/* Our role as last reported; the Lease itself may know a newer one. */
enum supervision_role {
	ROLE_UNKNOWN,
	ROLE_FOLLOWS, /* another process supervises the job */
	ROLE_SUPERVISES,
	ROLE_LAPSED, /* we supervised it; the Lease expired, or another process took it */
};

struct cluster_supervision {
	struct supervision base;
	const struct supervision_kube_request *request;
	struct job *found_job; /* the job, when it was read from the cluster; owned */
	char *foreign_change; /* other clients' changes that are still to be reported; NULL: none */
	char *folder; /* of this machine's record of the job */
	char *log_folder; /* of its logs: the same, or that of logs/folder.h */
	instant made_at; /* when we started to create the job; INSTANT_UNSET */

	struct kube_api *api;
	struct job_cache *cache;
	struct job_follower *owner; /* the ConfigMap, as other clients change it */
	struct lease_keeper *lease;

	enum supervision_role role;
	instant told_at; /* while another process supervises it: when we last checked its Pods */
	int ended_by; /* the signal that ended this process and not the job; 0: none */
	struct kube_fetching *fetching; /* the fetch in progress; NULL: none */
	size_t n_fetched; /* directories whose fetch is over */
	int fetch_exit_code; /* of a job that succeeded; 0: all were fetched */
	bool has_fetched; /* no more fetches are started */
	const struct fetch *unsaved; /* the first directory that was not fetched and still exists;
					NULL: none */
	struct err failure; /* why supervision ended before the job did */
	bool has_started; /* the job, before we attached: so all objects that its Pods mount
			     exist */
	bool is_fenced; /* without the Lease, nothing is changed */
	bool is_detached; /* there is no terminal, or no longer */
	bool is_recorded; /* there is a record to delete */
	bool is_removing; /* and its deletion is under way */
};

static inline bool is_attached(const struct cluster_supervision *supervision)
{
	return supervision->request->attach_to;
}

/* Whether we may have caused the job's present state. */
static inline bool has_supervised(const struct cluster_supervision *supervision)
{
	return supervision->role == ROLE_SUPERVISES || supervision->role == ROLE_LAPSED;
}

/* Ends the supervision with an error. */
static inline void supervision_kube_fail(struct cluster_supervision *supervision,
					 const struct err *err)
{
	supervision->failure = *err;
	supervision->base.phase = SUPERVISION_CLOSING;
	loop_stop(supervision->base.loop);
}

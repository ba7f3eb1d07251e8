/* The state of a job on a cluster under supervision. Only the files of cluster/supervision.h
 * include it:
 *
 *     supervision_set_up.c   setting up, and taking down
 *     supervision_parts.c    reconcile passes, news, signals and the end
 *     supervision_lease.c    whether this process acts, only follows, or leaves
 *     supervision_fetch.c    fetches directories from Pods
 *     supervision_record.c   this machine's record of the job */
#pragma once

#include "cluster/supervision.h"
#include "kube/job_cache.h"
#include "kube/lease_keeper.h"
#include "pods/copy.h"
#include "supervise/supervision.h"

/* Our role as last reported; the Lease itself may know a newer one. */
enum supervision_role {
	ROLE_UNKNOWN,
	ROLE_FOLLOWS, /* another process supervises the job */
	ROLE_SUPERVISES,
	ROLE_LAPSED, /* we supervised it; the Lease expired, or another process took it */
};

/* A fetch in progress. */
struct fetching {
	char *pod; /* NULL: none */
	struct kube_call *call;
	struct kube_copy *copy;
	struct loop_watch *timer;
	uint64_t bytes; /* when the timer was armed */
	struct err why; /* why the copy failed */
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
	struct fetching fetching;
	size_t n_fetched; /* directories whose fetch is over */
	int fetch_exit_code; /* of a job that succeeded; 0: all were fetched */
	bool has_fetched; /* no more fetches are started */
	const struct fetch *unsaved; /* first directory not fetched that still exists; NULL: none */
	struct err failure; /* why supervision ended before the job did */
	bool has_started; /* before we attached: so all objects that its Pods mount exist */
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

/* Fetches: of directories from Pods when the job has finished or is stopped, one after the other.
 * Until then, Pods that have one stay (cluster/pod_calls.c). */

/* Starts the fetches if they are not running; true when all are over. */
bool supervision_kube_fetch(struct cluster_supervision *supervision);
/* Cancels the fetches because the user does not want to wait; `exit_code` becomes that of a job
 * that succeeded. False if no fetch is left. */
bool supervision_kube_give_up_fetching(struct cluster_supervision *supervision, int exit_code);
void supervision_kube_cancel_fetch(struct cluster_supervision *supervision); /* the current one */
/* backend_kube_settings.holds; data is the supervision's base. */
bool supervision_kube_holds(const struct job *job, const char *role, int index, void *data);

/* The Lease. Its deadline also holds after this process, or the whole machine, was suspended: each
 * try of each change calls supervision_kube_may_act, which reads the clock. */

int supervision_kube_watch_lease(struct cluster_supervision *supervision, struct err *err) MUST_USE;
/* Instead of watching a Lease: this process never changes the job. */
void supervision_kube_only_follow(struct cluster_supervision *supervision);
/* Whether this process may change the job now. */
bool supervision_kube_may_act(const struct cluster_supervision *supervision);

/* Steps. */

extern const struct supervision_parts supervision_kube_parts; /* their data: the supervision */
/* Follows other clients' changes of the job's ConfigMap in the cache. */
void supervision_kube_watch_owner(struct cluster_supervision *supervision);
/* Reports the recorded status, overlaid with the state of the Pods, if it has changed. */
int supervision_kube_report_status(struct cluster_supervision *supervision,
				   struct err *err) MUST_USE;

/* This machine's record of the job (jobs/cluster_job_record.h): the cluster deletes its own when
 * the job has finished, and another machine may take over. Failing to write it is no error. */

/* Records that it is active, and its status. */
void supervision_kube_update_record(struct cluster_supervision *supervision);
/* Records that it has ended, for a reason of reconcile_lost. */
void supervision_kube_finish_record(struct cluster_supervision *supervision, const char *reason,
				    const char *why);
/* Records that it has finished, and where. */
void supervision_kube_create_record(struct cluster_supervision *supervision);

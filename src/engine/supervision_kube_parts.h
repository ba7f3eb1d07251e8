/* What the files of a supervision on a cluster share. Only they include this. */
#pragma once

#include "engine/background.h"
#include "engine/driver.h"
#include "engine/end_signals.h"
#include "engine/exporter.h"
#include "engine/reporter.h"
#include "engine/supervision_kube.h"
#include "kube/fetching.h"
#include "kube/job_cache.h"
#include "kube/lease_keeper.h"

#define EXIT_OWN_FAULT 125
#define EXIT_BY_SIGNAL 128

/* How far it has come. Each leads to a later one only. */
enum supervision_phase {
	PHASE_RUNNING,
	PHASE_FINISHED, /* the job is; what is left of it is waited for */
	PHASE_LEAVING, /* the Lease is given back, and then it is over here; the job goes on */
	PHASE_CLOSING, /* over, but for the terminal */
};

/* What we are to the job, as it was told last; the Lease itself may know better. */
enum supervision_role {
	ROLE_UNKNOWN,
	ROLE_FOLLOWS, /* another watches it */
	ROLE_SUPERVISES,
	ROLE_LAPSED, /* we did; the Lease ran out, or went to another */
};

struct cluster_supervision {
	const struct supervision_kube_request *request;
	struct job *job;
	struct job *found_job; /* the same, when it was read from the cluster; owned */
	char *folder; /* where this machine keeps what it knows of the job */
	char *log_folder; /* where its logs go: the same, or engine/attached_logs.h */
	msec created;
	msec made_at; /* when we began to make the job, on the monotonic clock; MSEC_UNSET */

	struct loop *loop;
	struct kube_api *api;
	struct store *store;

	struct backend *backend;
	struct driver *driver;
	struct job_cache *cache;
	struct job_follower *owner; /* the ConfigMap, as others change it */
	struct lease_keeper *lease;
	struct loop_watch *timer;
	struct end_signals signals;
	struct reporter reporter;
	struct exporter *exporter; /* NULL: nobody asked for it */
	background_started_fn started; /* NULL: nobody waits for it, or it was told */
	void *background;

	enum supervision_phase phase;
	enum supervision_role role;
	int64_t version; /* of the record that was told last */
	int ended_by; /* the signal that came before anything was begun; 0: none */
	int n_interrupts;
	struct kube_fetching *fetching; /* the folder that is on its way; NULL: none */
	size_t n_fetched; /* folders that are over */
	int fetch_exit_code; /* of a job that succeeded; 0: all was fetched */
	bool has_fetched; /* nothing more is fetched */
	const struct fetch
		*unsaved; /* the first that did not come and is still there; NULL: none */
	struct err failure; /* why this ended before the job did */
	bool has_begun; /* the job, before we attached: so all that its Pods mount is there */
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

/* Looks again, soon. */
static inline void supervision_kube_ask_for_pass(struct cluster_supervision *supervision)
{
	if (supervision->phase != PHASE_CLOSING && supervision->timer)
		loop_timer_arm(supervision->timer, loop_now());
}

/* Ends with an error. */
static inline void supervision_kube_fail(struct cluster_supervision *supervision,
					 const struct err *err)
{
	supervision->failure = *err;
	supervision->phase = PHASE_CLOSING;
	loop_stop(supervision->loop);
}

void supervision_kube_pass(void *data); /* the supervision */
/* Tells the status as it stands in the record. */
int supervision_kube_tell_status(struct cluster_supervision *supervision, struct err *err);
/* driver_passed_fn; data is the supervision. */
void supervision_kube_passed(const struct driver_outcome *outcome, const struct err *err,
			     void *data);

/* Fetches what is to be fetched; true when that is over. */
bool supervision_kube_fetch(struct cluster_supervision *supervision);
/* The same, when Pods wait for it with their end. */
void supervision_kube_fetch_when_held_up(struct cluster_supervision *supervision);
/* Somebody does not want to wait. False when there is nothing that is waited for. */
bool supervision_kube_give_up_fetching(struct cluster_supervision *supervision, int exit_code);
/* backend_kube_settings.holds; data is the supervision. */
bool supervision_kube_holds(const struct job *job, const char *role, int index, void *data);

/* What this machine remembers of the job (engine/known_job.h): that it goes on, and how it is. */
void supervision_kube_keep_here(struct cluster_supervision *supervision);
/* That it has ended, for a reason of reconcile_lost. */
void supervision_kube_settle_here(struct cluster_supervision *supervision, const char *reason,
				  const char *why);
/* That, and where, it has ended in order. */
void supervision_kube_remember_here(struct cluster_supervision *supervision);

void supervision_kube_watch_owner(struct cluster_supervision *supervision);

/* To the command that waits for the job to be supervised in the background, once. */
void supervision_kube_tell_started(struct cluster_supervision *supervision);
int supervision_kube_watch_lease(struct cluster_supervision *supervision, struct err *err);
/* We may act now. */
bool supervision_kube_may_act(const struct cluster_supervision *supervision);

/* While the objects are made, and then. */
void supervision_kube_watch_early_signals(struct cluster_supervision *supervision);
void supervision_kube_watch_signals(struct cluster_supervision *supervision);

#include "cluster/supervision_state.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "cluster/backend.h"
#include "cluster/store.h"
#include "jobs/record.h"
#include "reconcile/reconcile.h"
#include "reconcile/status_seen.h"

#include <signal.h>
#include <string.h>

#define RETRY_AFTER (2 * MSEC_PER_SECOND)
#define FOLLOW_PAUSE MSEC_PER_SECOND /* between two checks of the Pods alone */

static void on_supervised_job_removed(int64_t version, const struct err *err, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) version;
	supervision->is_removing = false;
	if (err && err->code != ERR_NOT_FOUND) {
		reporter_print_error(&supervision->base.reporter, err->text);
		loop_timer_arm_after(supervision->base.timer, RETRY_AFTER);
		return;
	}
	supervision->is_recorded = false;
	lease_keeper_remove(supervision->lease);
	supervision_request_pass(&supervision->base);
}

/* A directory was not fetched: the next muster process that attaches tries again. Finished replicas
 * are not started again, and need no variables. */
static void leave_pods(struct cluster_supervision *supervision)
{
	if (supervision->base.phase == SUPERVISION_FINISHED) {
		supervision_kube_create_record(supervision);
		backend_kube_end_secret(supervision->base.backend);
	}
	supervision->is_recorded = false; /* to be deleted */
	supervision->base.phase = SUPERVISION_LEAVING;
	lease_keeper_release(supervision->lease);
}

/* The job has finished: its remaining objects are deleted, and this is waited for. */
static void clean_up(struct cluster_supervision *supervision)
{
	struct supervision *base = &supervision->base;

	if (!backend_kube_is_quiet(base->backend) || !supervision_kube_fetch(supervision))
		return;
	if (supervision->unsaved) {
		leave_pods(supervision);
		return;
	}
	backend_kube_drop_refused(base->backend);
	if (!supervision->is_recorded) {
		if (backend_kube_is_empty(base->backend) && supervision->lease->is_done)
			supervision_close(base);
	} else if (!supervision->is_removing) {
		supervision_kube_create_record(supervision);
		supervision->is_removing = true;
		/* The owner; the cluster deletes all that it owns. */
		store_begin_remove(base->store, base->job->name, base->job->uid,
				   on_supervised_job_removed, supervision);
	}
}

/* A user deleted the job's ConfigMap, and the cluster deletes what it owned. */
static void report_job_deleted(struct cluster_supervision *supervision)
{
	const char *name = supervision->base.job->name;
	bool is_tfjob = supervision->request->is_tfjob;
	char *why CLEANUP(mem_free_text) =
		mem_format("%s '%s%s' was deleted, and the cluster deleted the Pods with it",
			   is_tfjob ? "TFJob" : "ConfigMap", name, is_tfjob ? "" : ".job");

	if (status_is_finished(&supervision->base.reporter.status))
		return;
	reporter_sayf(&supervision->base.reporter,
		      "job '%s' was deleted; for its output so far: muster logs %s", name,
		      supervision->request->base.job_words);
	reporter_end(&supervision->base.reporter, supervision->base.job, RECONCILE_DELETED, why);
	supervision_kube_finish_record(supervision, RECONCILE_DELETED, why);
}

static void finish_cluster_pass(const struct reconciler_outcome *outcome, void *data)
{
	struct cluster_supervision *supervision = data;
	struct supervision *base = &supervision->base;
	bool is_finished = outcome->is_finished || outcome->is_gone;

	if (outcome->is_gone)
		report_job_deleted(supervision);
	if (is_finished) {
		base->phase = SUPERVISION_FINISHED;
		supervision_report_started(base);
	}
	supervision->has_fetched |= outcome->is_gone; /* its Pods go with it */
	loop_timer_arm_wall(base->timer, is_finished ? loop_now() : outcome->wake_at);
	if (backend_kube_is_held_up(base->backend))
		(void) supervision_kube_fetch(supervision);
}

int supervision_kube_report_status(struct cluster_supervision *supervision, struct err *err)
{
	struct supervision *base = &supervision->base;
	const struct reconciler_listener listener = reporter_listener(&base->reporter);
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct backend *backend = base->backend;
	struct observed observed = {0};
	struct status status;
	int rc = base->store->functions->get(base->store, base->job->name, &record, err);

	if (rc == 0)
		rc = record_read(&record, arena, &job, &status, err);
	if (rc < 0)
		return rc;
	/* A status that another process has written does not show the state of its Pods. */
	if (backend && backend->functions->observe(backend, base->job, arena, &observed, NULL) < 0)
		observed = (struct observed){0}; /* they were not listed yet */
	status_see(job, &observed, arena, &status);
	base->version = record.version;
	supervision->told_at = loop_monotonic_now();
	if (!base->reporter.document || !status_equals(&status, &base->reporter.status))
		listener.on_status(base->job, &status, listener.data);
	return 0;
}

/* Many Pods cause many news. */
static bool defer_recent_report(struct cluster_supervision *supervision)
{
	struct supervision *base = &supervision->base;
	struct store_record record CLEANUP(store_record_done) = {0};
	instant again_at = instant_add(supervision->told_at, FOLLOW_PAUSE);

	if (loop_has_come(again_at) ||
	    base->store->functions->get(base->store, base->job->name, &record, NULL) < 0 ||
	    record.version != base->version)
		return false;
	loop_timer_arm(base->timer, again_at);
	return true;
}

/* The supervisor deletes the job's objects when it has ended. */
static void follow_other_supervisor(struct cluster_supervision *supervision)
{
	struct err err = {0};

	if (defer_recent_report(supervision))
		return;
	int rc = supervision_kube_report_status(supervision, &err);

	if (rc == ERR_NOT_FOUND) {
		report_job_deleted(supervision);
		supervision_close(&supervision->base);
	} else {
		reporter_print_error(&supervision->base.reporter, rc < 0 ? err.text : NULL);
		/* The Pods left by a TFJob stay; their output until now is shown. */
		if (rc == 0 && supervision->request->is_tfjob &&
		    status_is_finished(&supervision->base.reporter.status) &&
		    backend_kube_is_quiet(supervision->base.backend))
			supervision_close(&supervision->base);
	}
}

/* True when the reconciler is to act: else another process does, or the Lease is being acquired. */
static bool begin_supervised_pass(struct cluster_supervision *supervision)
{
	if (!backend_kube_is_ready(supervision->base.backend))
		return false; /* on_news is called when it is */
	if (supervision_kube_may_act(supervision))
		return true;
	if (supervision->role == ROLE_FOLLOWS)
		follow_other_supervisor(supervision);
	return false;
}

static bool begin_pass(void *data)
{
	struct cluster_supervision *supervision = data;
	struct supervision *base = &supervision->base;

	switch (base->phase) {
	case SUPERVISION_RUNNING:
		if (!supervision->has_fetched || !supervision->unsaved)
			return begin_supervised_pass(supervision);
		leave_pods(supervision); /* fetched, though a process outlives its grace period */
		break;
	case SUPERVISION_FINISHED:
		if (backend_kube_is_ready(base->backend))
			clean_up(supervision);
		break;
	case SUPERVISION_LEAVING:
		if (!supervision->lease->is_done || !backend_kube_is_quiet(base->backend))
			break;
		if (status_is_finished(&base->reporter.status))
			supervision_close(base);
		else
			loop_stop(base->loop);
		break;
	case SUPERVISION_CLOSING:
		break;
	}
	return false;
}

/* The job's ConfigMap as other clients change it, so that the store need not read it. Its last
 * status and its deletion may arrive in one moment, before the next reconcile pass: followers
 * report how the job finished before the record is dropped. */

static void on_owner_object_change(enum job_cache_kind kind, const char *name, void *data)
{
	struct cluster_supervision *supervision = data;
	struct supervision *base = &supervision->base;
	const struct json *owner = job_follower_get(supervision->owner, kind, name);

	if (kind != JOB_CACHE_OWNERS)
		return;
	bool is_followed = base->phase == SUPERVISION_RUNNING && supervision->role == ROLE_FOLLOWS;

	if (owner)
		store_kube_observe(base->store, owner);
	else if (!is_followed || supervision_kube_report_status(supervision, NULL) == 0)
		store_kube_observe_deletion(base->store, base->job->name);
	supervision_request_pass(&supervision->base);
}

static void on_owner_objects_synced(enum job_cache_kind kind, void *data)
{
	struct cluster_supervision *supervision = data;

	if (kind == JOB_CACHE_OWNERS)
		supervision_request_pass(&supervision->base);
}

void supervision_kube_watch_owner(struct cluster_supervision *supervision)
{
	const struct job_follower_settings settings = {
		.namespace_name = supervision->base.job->name_space,
		.job_name = supervision->base.job->name,
		.on_change = on_owner_object_change,
		.on_synced = on_owner_objects_synced,
		.data = supervision,
	};

	supervision->owner = job_cache_follow(supervision->cache, &settings);
	job_cache_watch(supervision->cache, JOB_CACHE_OWNERS);
}

/* Leaves without waiting. */
static void leave_cluster_supervision(struct cluster_supervision *supervision, int signal_number)
{
	supervision->ended_by = signal_number;
	loop_stop(supervision->base.loop);
}

/* A user who attached only wanted to follow: the job stays as it was. */
static void leave_running(struct cluster_supervision *supervision, int signal_number)
{
	bool is_again = supervision->base.phase == SUPERVISION_LEAVING;

	supervision->base.phase = SUPERVISION_LEAVING;
	supervision->ended_by = signal_number;
	if (is_again || !supervision_kube_may_act(supervision)) {
		reporter_print_message(&supervision->base.reporter,
				       "detached; the job is still running");
		loop_stop(supervision->base.loop);
		return;
	}
	reporter_print_message(
		&supervision->base.reporter,
		"the job keeps running without a supervisor; failures are not restarted until "
		"you run 'muster attach'");
	lease_keeper_release(supervision->lease);
}

/* The terminal was lost. */
static void hang_up(struct cluster_supervision *supervision)
{
	struct reporter *reporter = &supervision->base.reporter;

	if (is_attached(supervision) && supervision->role != ROLE_SUPERVISES) {
		leave_cluster_supervision(supervision, SIGHUP);
	} else if (!supervision->is_detached) {
		console_free(TAKE(reporter->console));
		background_leave_terminal();
		supervision->is_detached = true;
		reporter_print_message(
			reporter, "the terminal closed; the job keeps running in the background");
	}
}

/* There is nothing to stop: the job has finished, or was never started. */
static bool has_nothing_to_stop(const struct cluster_supervision *supervision)
{
	return supervision->base.phase == SUPERVISION_FINISHED ||
	       (supervision->base.phase == SUPERVISION_LEAVING && supervision->unsaved) ||
	       (!is_attached(supervision) && !has_supervised(supervision));
}

/* The job has finished, and this process started it. */
static bool only_fetches(const struct cluster_supervision *supervision)
{
	return supervision->fetching.pod &&
	       status_is_finished(&supervision->base.reporter.status) &&
	       (!is_attached(supervision) || supervision->is_detached);
}

/* The second Ctrl-C skips the grace period, the third one does not wait for the cluster. */
static bool on_cluster_run_signal(int number, void *data)
{
	struct cluster_supervision *supervision = data;

	if (!supervision->base.reconciler) {
		/* Before any Pod is started: the call in progress is waited for, so that it is
		 * known which objects to delete; a second signal cancels it. */
		if (supervision->ended_by || is_attached(supervision))
			loop_stop(supervision->base.loop);
		supervision->ended_by = number;
	} else if (number == SIGHUP) {
		hang_up(supervision);
	} else if (only_fetches(supervision) &&
		   supervision_kube_give_up_fetching(supervision, EXIT_BY_SIGNAL + number)) {
		return true;
	} else if (has_nothing_to_stop(supervision) ||
		   (number == SIGINT && supervision->base.n_interrupts > 1)) {
		leave_cluster_supervision(supervision, number);
	} else if (is_attached(supervision) && !supervision->is_detached) {
		leave_running(supervision, number);
	} else {
		return false;
	}
	return true;
}

static void on_cluster_run_hurry(void *data)
{
	struct cluster_supervision *supervision = data;

	if (supervision->base.n_interrupts > 1)
		(void) supervision_kube_give_up_fetching(supervision, EXIT_BY_SIGNAL + SIGINT);
	supervision_request_stop(&supervision->base, STOP_INTERRUPTED, 0);
}

static void refuse_to_pass_on(int number, void *data)
{
	struct cluster_supervision *supervision = data;

	reporter_sayf(&supervision->base.reporter,
		      "SIG%s has no effect: signals are not passed on to Pods",
		      sigabbrev_np(number));
}

const struct supervision_parts supervision_kube_parts = {
	.replicas = "Pods",
	.begin_pass = begin_pass,
	.end_pass = finish_cluster_pass,
	.take_signal = on_cluster_run_signal,
	.pass_on = refuse_to_pass_on,
	.hurry = on_cluster_run_hurry,
};

/* Passes of the driver while we watch the job, looks at it while another does, and the end. */
#include "base/mem.h"
#include "core/reconcile.h"
#include "engine/backend_kube.h"
#include "engine/record.h"
#include "engine/supervision_kube_parts.h"

#define RETRY_AFTER (2 * MSEC_PER_SECOND)

/* The end. */

static void on_drained(void *data)
{
	struct cluster_supervision *supervision = data;

	loop_stop(supervision->loop);
}

static void close_console(struct cluster_supervision *supervision)
{
	struct reporter *reporter = &supervision->reporter;

	supervision->phase = PHASE_CLOSING;
	loop_timer_arm(supervision->timer, MSEC_NEVER);
	if (reporter->console)
		console_finish(reporter->console, &reporter->status, on_drained, supervision);
	else
		loop_stop(supervision->loop);
}

static void on_removed(int64_t version, const struct err *err, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) version;
	supervision->is_removing = false;
	if (err && err->code != ERR_NOT_FOUND) {
		reporter_say_trouble(&supervision->reporter, err->text);
		loop_timer_arm(supervision->timer, loop_now() + RETRY_AFTER);
		return;
	}
	supervision->is_recorded = false;
	lease_keeper_remove(supervision->lease);
	supervision_kube_ask_for_pass(supervision);
}

/* The owner goes, and the cluster takes along all that it owns. */
static void begin_to_remove(struct cluster_supervision *supervision)
{
	const struct job *job = supervision->job;

	if (supervision->is_removing)
		return;
	supervision_kube_remember_here(supervision);
	supervision->is_removing = true;
	store_begin_remove(supervision->store, job->name, job->uid, on_removed, supervision);
}

/* A folder did not come: the next muster that attaches goes on here. */
static void leave_pods(struct cluster_supervision *supervision)
{
	if (supervision->phase == PHASE_FINISHED)
		supervision_kube_remember_here(supervision);
	supervision->is_recorded = false; /* to be deleted */
	supervision->phase = PHASE_LEAVING;
	lease_keeper_release(supervision->lease);
}

/* The job has ended: what is left of it goes, and is waited for. */
static void clean_up(struct cluster_supervision *supervision)
{
	if (!backend_kube_is_quiet(supervision->backend) || !supervision_kube_fetch(supervision))
		return;
	if (supervision->unsaved) {
		leave_pods(supervision);
		return;
	}
	backend_kube_drop_refused(supervision->backend);
	if (supervision->is_recorded)
		begin_to_remove(supervision);
	else if (backend_kube_is_empty(supervision->backend) &&
		 lease_keeper_is_done(supervision->lease))
		close_console(supervision);
}

/* Somebody deleted the job's ConfigMap, and the cluster ends what it owned. */
static void tell_gone(struct cluster_supervision *supervision)
{
	const char *name = supervision->job->name;
	char *why CLEANUP(mem_free_text) = mem_format(
		"somebody deleted ConfigMap '%s.job', and the cluster ended its Pods with it",
		name);
	char *told CLEANUP(mem_free_text) =
		mem_format("job '%s' is deleted; its lines so far: muster logs %s", name,
			   supervision->request->job_words);

	if (status_is_finished(&supervision->reporter.status))
		return;
	reporter_say(&supervision->reporter, told);
	reporter_end(&supervision->reporter, supervision->job, RECONCILE_DELETED, why);
	supervision_kube_settle_here(supervision, RECONCILE_DELETED, why);
}

/* Passes. */

void supervision_kube_passed(const struct driver_outcome *outcome, const struct err *err,
			     void *data)
{
	struct cluster_supervision *supervision = data;
	bool is_finished = outcome->is_finished || outcome->is_gone;

	exporter_end_pass(supervision->exporter);
	if (supervision->phase != PHASE_RUNNING) /* it was left while the pass wrote */
		return;
	reporter_say_trouble(&supervision->reporter, err ? err->text : NULL);
	if (outcome->version)
		supervision->version = outcome->version;
	if (outcome->is_gone)
		tell_gone(supervision);
	if (is_finished) {
		supervision->phase = PHASE_FINISHED;
		supervision_kube_tell_started(supervision);
	}
	supervision->has_fetched |= outcome->is_gone; /* its Pods go with it */
	loop_timer_arm(supervision->timer, is_finished ? loop_now() : outcome->wake_at);
	supervision_kube_fetch_when_held_up(supervision);
}

/* What another has written. */
int supervision_kube_tell_status(struct cluster_supervision *supervision, struct err *err)
{
	const struct driver_listener listener = reporter_listener(&supervision->reporter);
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	int rc = supervision->store->functions->get(supervision->store, supervision->job->name,
						    &record, err);

	if (rc < 0 || record.version == supervision->version)
		return rc;
	rc = record_read_status(&record, arena, &status, err);
	if (rc < 0)
		return rc;
	supervision->version = record.version;
	listener.on_status(supervision->job, &status, listener.data);
	return 0;
}

/* The supervisor deletes the job's objects when it has ended. */
static void follow(struct cluster_supervision *supervision)
{
	struct err err = {0};
	int rc = supervision_kube_tell_status(supervision, &err);

	if (rc == ERR_NOT_FOUND) {
		tell_gone(supervision);
		close_console(supervision);
	} else {
		reporter_say_trouble(&supervision->reporter, rc < 0 ? err.text : NULL);
	}
}

static void look(struct cluster_supervision *supervision)
{
	if (!backend_kube_is_ready(supervision->backend))
		return; /* news come when it is */
	if (supervision_kube_may_act(supervision)) {
		exporter_begin_pass(supervision->exporter);
		driver_look(supervision->driver, loop_now());
	} else if (supervision->role == ROLE_FOLLOWS) {
		follow(supervision);
	}
}

void supervision_kube_pass(void *data)
{
	struct cluster_supervision *supervision = data;

	switch (supervision->phase) {
	case PHASE_RUNNING: /* a process that outlives its grace time is fetched from as it is */
		if (supervision->has_fetched && supervision->unsaved)
			leave_pods(supervision);
		else
			look(supervision);
		break;
	case PHASE_FINISHED:
		if (backend_kube_is_ready(supervision->backend))
			clean_up(supervision);
		break;
	case PHASE_LEAVING:
		if (!lease_keeper_is_done(supervision->lease))
			break;
		if (status_is_finished(&supervision->reporter.status))
			close_console(supervision);
		else
			loop_stop(supervision->loop);
		break;
	case PHASE_CLOSING:
		break;
	}
}

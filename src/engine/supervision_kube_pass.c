/* Passes of the driver while we watch the job, looks at it while another does, and the end. */
#include "base/mem.h"
#include "core/reconcile.h"
#include "engine/backend_kube.h"
#include "engine/record.h"
#include "engine/supervision_kube_parts.h"

#define RETRY_AFTER (2 * MSEC_PER_SECOND)

/* So long what a pass has begun has for itself: the status of the next pass is waited for, and as
 * long as the loop stands still for that, no call goes out. */
#define HEAD_START 20

/* As long as Pods are being made: that hundreds of them come one after the other is nothing to
 * decide on, and each status would hold up the next of them. */
#define SPACING_OF_MAKING MSEC_PER_SECOND

static msec spacing(const struct cluster_supervision *supervision)
{
	return backend_kube_is_making(supervision->backend) ? SPACING_OF_MAKING : HEAD_START;
}

static void arm(struct cluster_supervision *supervision, msec at)
{
	msec wait = supervision->passed_at + spacing(supervision) - loop_monotonic_now();
	msec soonest = loop_now() + (wait > 0 ? wait : 0);

	loop_timer_arm(supervision->timer, at < soonest ? soonest : at);
}

void supervision_kube_ask_for_pass(struct cluster_supervision *supervision)
{
	if (supervision->phase != PHASE_CLOSING && supervision->timer)
		arm(supervision, loop_now());
}

void supervision_kube_fail(struct cluster_supervision *supervision, const struct err *err)
{
	supervision->failure = *err;
	supervision->phase = PHASE_CLOSING;
	loop_stop(supervision->loop);
}

/* The end. */

int supervision_kube_remove_objects(struct cluster_supervision *supervision, struct err *err)
{
	const struct job *job = supervision->job;

	if (!supervision->is_recorded)
		return 0;
	int rc =
		supervision->store->functions->remove(supervision->store, job->name, job->uid, err);

	if (rc < 0 && rc != ERR_NOT_FOUND)
		return rc;
	supervision->is_recorded = false;
	return 0;
}

static void on_drained(void *data)
{
	struct cluster_supervision *supervision = data;

	loop_stop(supervision->loop);
}

static void close_console(struct cluster_supervision *supervision)
{
	struct telling *telling = &supervision->telling;

	supervision->phase = PHASE_CLOSING;
	loop_timer_arm(supervision->timer, MSEC_NEVER);
	if (telling->console)
		console_finish(telling->console, &telling->status, on_drained, supervision);
	else
		loop_stop(supervision->loop);
}

static void try_to_remove(struct cluster_supervision *supervision)
{
	struct err err = {0};

	supervision_kube_remember_here(supervision);
	if (supervision_kube_remove_objects(supervision, &err) == 0) {
		lease_keeper_remove(supervision->lease);
	} else {
		telling_say_trouble(&supervision->telling, err.text);
		loop_timer_arm(supervision->timer, loop_now() + RETRY_AFTER);
	}
}

/* A folder did not come: whoever attaches goes on here. */
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
		try_to_remove(supervision);
	if (!supervision->is_recorded && backend_kube_is_empty(supervision->backend) &&
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
		mem_format("job '%s' is no more: %s; its lines so far: muster logs %s", name, why,
			   supervision->request->job_words);

	if (status_is_finished(&supervision->telling.status))
		return;
	telling_say(&supervision->telling, told);
	supervision->telling.status.exit_code = EXIT_OWN_FAULT;
	supervision_kube_settle_here(supervision, RECONCILE_DELETED, why);
}

/* Passes. */

static void drive(struct cluster_supervision *supervision)
{
	struct driver_outcome outcome;
	struct err err = {0};
	int rc = driver_pass(supervision->driver, supervision->job->name, loop_now(), &outcome,
			     &err);

	telling_say_trouble(&supervision->telling, rc < 0 ? err.text : NULL);
	if (outcome.version)
		supervision->version = outcome.version;
	if (outcome.is_gone)
		tell_gone(supervision);
	bool is_finished = outcome.is_finished || outcome.is_gone;

	if (is_finished) {
		supervision->phase = PHASE_FINISHED;
		supervision_kube_tell_started(supervision);
	}
	supervision->has_fetched |= outcome.is_gone; /* its Pods go with it */
	supervision->passed_at = is_finished ? 0 : loop_monotonic_now();
	arm(supervision, is_finished ? loop_now() : outcome.wake_at);
	supervision_kube_fetch_when_held_up(supervision);
}

/* What another has written. */
int supervision_kube_tell_status(struct cluster_supervision *supervision, struct err *err)
{
	const struct driver_listener listener = telling_listener(&supervision->telling);
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

/* Whoever watches the job deletes its objects when it has ended. */
static void follow(struct cluster_supervision *supervision)
{
	struct err err = {0};
	int rc = supervision_kube_tell_status(supervision, &err);

	if (rc == ERR_NOT_FOUND) {
		tell_gone(supervision);
		close_console(supervision);
	} else {
		telling_say_trouble(&supervision->telling, rc < 0 ? err.text : NULL);
	}
}

static void look(struct cluster_supervision *supervision)
{
	if (!backend_kube_is_ready(supervision->backend))
		return; /* news come when it is */
	if (supervision_kube_may_act(supervision))
		drive(supervision);
	else if (supervision->role == ROLE_LOOKS_ON)
		follow(supervision);
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
		if (status_is_finished(&supervision->telling.status))
			close_console(supervision);
		else
			loop_stop(supervision->loop);
		break;
	case PHASE_CLOSING:
		break;
	}
}

#include "operator/state.h"

#include "io/log.h"

/* Due passes. */

void operator_arm(struct controller *controller)
{
	loop_timer_arm(controller->timer, queue_wake_at(controller->queue));
}

/* Changes of running jobs take precedence, however many jobs wait to begin. */
void operator_enqueue(struct managed_job *job, instant due)
{
	if (!instant_is_never(due))
		queue_add(job->controller->queue, job->name_space, job->key, due, !job->reconciler);
	operator_arm(job->controller);
}

bool operator_may_act(const struct controller *controller)
{
	return !controller->is_ending &&
	       (!controller->lease || lease_keeper_standing(controller->lease) == LEASE_HELD);
}

/* Messages, Events and counts. */

void operator_report(struct controller *controller, const char *sentence)
{
	if (text_keep(&controller->last_trouble, sentence))
		controller->settings->say(sentence, controller->settings->data);
}

/* An unreachable server is reported once, whatever the request. */
static bool is_worth_telling(struct controller *controller, const struct err *err)
{
	bool was_away = controller->is_away;

	controller->is_away |= err->code == ERR_UNREACHABLE;
	return !was_away || err->code != ERR_UNREACHABLE;
}

void operator_clear_outage(struct controller *controller)
{
	if (controller->is_away)
		operator_report(controller, "the API server responds again");
	controller->is_away = false;
}

void operator_report_error(struct controller *controller, const struct err *err)
{
	if (is_worth_telling(controller, err))
		operator_report(controller, err->text);
	else
		log_info("%s", err->text);
}

void operator_report_job_error(const struct managed_job *job, const struct err *err)
{
	char *sentence CLEANUP(mem_free_text) = mem_format("job '%s': %s", job->key, err->text);
	const struct operator_settings *settings = job->controller->settings;

	if (is_worth_telling(job->controller, err))
		settings->say(sentence, settings->data);
	else
		log_info("%s", sentence);
}

void operator_stop_for(struct controller *controller, const struct err *fault)
{
	if (controller->fault.code)
		return;
	controller->fault = *fault;
	controller->fault.code = ERR_INVALID; /* an error of the set-up */
	controller->end(controller);
}

/* The cluster may have another definition of TFJobs. */
void operator_failed(struct managed_job *job, const struct job *own, const struct err *err)
{
	const struct note note = {
		.level = NOTE_WARNING, .reason = "ReconcileError", .sentence = err->text};

	job->controller->n_errors++;
	if (err->code == ERR_UNSUPPORTED) {
		operator_stop_for(job->controller, err);
		return;
	}
	if (!text_keep(&job->trouble, err->text))
		return;
	operator_report_job_error(job, err);
	if (err->code != ERR_UNREACHABLE)
		tfjob_events_send(job->controller->events, own, &note);
}

void operator_report_removed(const struct managed_job *job, const struct job *own)
{
	char *sentence CLEANUP(mem_free_text) = mem_format("Deleted job: %s", own->name);
	const struct note note = {.reason = "SuccessfulDeleteJob", .sentence = sentence};

	tfjob_events_send(job->controller->events, own, &note);
}

/* Under the policy ExitCode an end has two notes. */
static void count_note(struct managed_job *job, const struct note *note)
{
	static const struct {
		const char *reason;
		enum metrics_job_event event;
	} rows[] = {
		{"TFJobSucceeded", METRICS_JOB_SUCCESSFUL},
		{"TFJobFailed", METRICS_JOB_FAILED},
		{"TFJob" OPERATOR_REFUSED, METRICS_JOB_FAILED},
		{"TFJobRestarting", METRICS_JOB_RESTARTED},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool is_end = rows[i].event != METRICS_JOB_RESTARTED;

		if (!text_equals(note->reason, rows[i].reason) || (is_end && job->is_end_counted))
			continue;
		job->is_end_counted |= is_end;
		metrics_count_job(&job->controller->counts, job->name_space, rows[i].event);
	}
}

void operator_send_event(const struct job *own, const struct note *note, void *data)
{
	struct managed_job *job = data;

	count_note(job, note);
	if (!text_equals(note->reason, "ReplicaWaits")) /* its Pods' own Events report this */
		tfjob_events_send(job->controller->events, own, note);
}

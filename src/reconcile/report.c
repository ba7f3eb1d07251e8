#include "reconcile/report.h"

#include "reconcile/reconcile.h"
#include "reconcile/waiting_reason.h"
#include "status/failure_words.h"

static void add_counted_noun(struct text *text, int count, const char *noun, bool has_plural)
{
	text_addf(text, "%d %s%s", count, noun, has_plural && count != 1 ? "s" : "");
}

/* "1 chief, 2 workers, 1 ps" */
static void add_role_counts(const struct job *job, struct text *text)
{
	const char *separator = "";

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];

		if (role->replicas == 0)
			continue;
		text_add(text, separator);
		add_counted_noun(text, role->replicas, role->name, role->kind != ROLE_PS);
		separator = ", ";
	}
}

static void add_time_taken(const struct status *status, const char *word, struct text *text)
{
	if (status->start_time == MSEC_UNSET || status->completion_time < status->start_time)
		return;
	text_addf(text, " %s ", word);
	text_add_duration(text, status->completion_time - status->start_time);
}

static void add_success(const struct job *job, const struct status *status, struct text *text)
{
	if (job->elastic_id && status->start_time == MSEC_UNSET) { /* it was a spare */
		text_addf(text, "muster: job %s succeeded; this machine was not needed\n",
			  job->name);
		return;
	}
	text_addf(text, "muster: job %s succeeded: ", job->name);
	add_role_counts(job, text);
	add_time_taken(status, "in", text);
	if (status->restarts > 0) {
		text_add(text, ", ");
		add_counted_noun(text, status->restarts, "restart", true);
	}
	text_add_char(text, '\n');
}

/* The script of `muster launch`, as torchrun's report names it: the command is "python3 -u [-m]
 * SCRIPT ARGS", or a program. */
static const char *script_of(const struct job *job)
{
	const char *const *words = job->elastic_id ? job->roles[0].container.command : NULL;

	if (!words || !words[0] || !text_equals(words[1], "-u"))
		return words ? words[0] : NULL;
	return text_equals(words[2], "-m") ? words[3] : words[2];
}

static void add_failure_report(const struct job *job, const struct status *status,
			       const char *job_words, const struct failure_style *style,
			       struct text *text)
{
	const char *reason = status->failure->reason;
	struct failure_style with_script = *style;

	with_script.script = script_of(job);
	bool is_asked =
		text_equals(reason, FAILURE_STOPPED) || text_equals(reason, RECONCILE_DELETED);

	text_addf(text, "muster: job %s %s", job->name, is_asked ? "ended" : "failed");
	add_time_taken(status, "after", text);
	text_add(text, ": ");
	failure_describe(status, job_words, &with_script, text);
}

void report_outcome(const struct job *job, const struct status *status, const char *job_words,
		    const struct failure_style *style, struct text *text)
{
	if (status_condition_is_true(status, CONDITION_SUCCEEDED))
		add_success(job, status, text);
	else if (status->failure)
		add_failure_report(job, status, job_words, style, text);
	else
		text_addf(text, "muster: job %s has ended\n", job->name);
}

/* Number of replicas by state, and the first one that the job waits for. */
struct counts {
	size_t n_running;
	size_t n_stopping;
	size_t n_stopped; /* of an unfinished job: removed by scaling down */
	size_t n_awaited;
	const struct replica_status *awaited;
	msec next_start; /* MSEC_NEVER: no replica waits for a delay */
};

static struct counts count_states(const struct status *status, msec now)
{
	struct counts counts = {.next_start = MSEC_NEVER};

	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];
		enum replica_state state = replica->state;

		counts.n_running += state == REPLICA_RUNNING;
		counts.n_stopping += state == REPLICA_STOPPING;
		counts.n_stopped += state == REPLICA_STOPPED;
		if (state != REPLICA_PENDING && state != REPLICA_STARTING)
			continue;
		if (counts.n_awaited++ == 0)
			counts.awaited = replica;
		if (replica->restart_at != MSEC_UNSET && replica->restart_at > now)
			counts.next_start = msec_min(counts.next_start, replica->restart_at);
	}
	return counts;
}

static void describe_awaited(const struct status *status, const struct startup *startup,
			     const struct counts *counts, msec now, struct text *text)
{
	if (startup)
		startup_describe(startup, text);
	else
		text_addf(text, "%zu of %zu running, waiting for %s-%d", counts->n_running,
			  status->n_replicas - counts->n_stopped, counts->awaited->role,
			  counts->awaited->index);
	if (!startup && counts->n_awaited > 1)
		text_addf(text, " and %zu more", counts->n_awaited - 1);
	waiting_reason_add_first(status, "; ", text);
	if (counts->next_start != MSEC_NEVER) {
		text_add(text, ", next start in ");
		text_add_duration(text, counts->next_start - now);
	}
}

void progress_describe(const struct status *status, const struct startup *startup, msec now,
		       struct text *text)
{
	struct counts counts = count_states(status, now);

	if (status_is_finished(status) && counts.n_stopping == 0)
		return;
	if (counts.n_stopping > 0)
		text_addf(text, "%zu of %zu stopping", counts.n_stopping, status->n_replicas);
	else if (status_condition_is_true(status, CONDITION_SUSPENDED))
		text_add(text, "suspended");
	else if (status_condition_is_true(status, CONDITION_QUEUED))
		text_add(text, status_condition(status, CONDITION_QUEUED)->message);
	else if (counts.awaited)
		describe_awaited(status, startup, &counts, now, text);
}

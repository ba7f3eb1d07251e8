#include "core/report.h"

#include "core/failure_text.h"

static void add_count(struct text *text, int count, const char *noun, bool has_plural)
{
	text_addf(text, "%d %s%s", count, noun, has_plural && count != 1 ? "s" : "");
}

/* "1 chief, 2 workers, 1 ps" */
static void add_roles(const struct job *job, struct text *text)
{
	const char *separator = "";

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];

		if (role->replicas == 0)
			continue;
		text_add(text, separator);
		add_count(text, role->replicas, role->name, role->kind != ROLE_PS);
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
	text_addf(text, "muster: job %s succeeded: ", job->name);
	add_roles(job, text);
	add_time_taken(status, "in", text);
	if (status->restarts > 0) {
		text_add(text, ", ");
		add_count(text, status->restarts, "restart", true);
	}
	text_add_char(text, '\n');
}

static void add_failure(const struct job *job, const struct status *status, const char *job_words,
			int offset, struct text *text)
{
	bool is_stopped = text_equals(status->failure->reason, "Stopped");

	text_addf(text, "muster: job %s %s", job->name, is_stopped ? "ended" : "failed");
	add_time_taken(status, "after", text);
	text_add(text, ": ");
	failure_describe(status, job_words, offset, text);
}

void report_outcome(const struct job *job, const struct status *status, const char *job_words,
		    int offset, struct text *text)
{
	if (status_condition_is_true(status, CONDITION_SUCCEEDED))
		add_success(job, status, text);
	else if (status->failure)
		add_failure(job, status, job_words, offset, text);
	else
		text_addf(text, "muster: job %s has not ended\n", job->name);
}

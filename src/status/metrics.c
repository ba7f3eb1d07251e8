/* Names and roles of jobs consist of lower-case letters, digits and '-' or '.' (spec/job.h), so no
 * label needs escaping. */
#include "status/metrics.h"

#include "base/mem.h"

#include <inttypes.h>

#define MICROSECONDS 1000000
#define OTHER_REASON "Other"

static const struct {
	int64_t microseconds;
	const char *seconds;
} buckets[METRICS_BUCKETS] = {
	{1000, "0.001"}, {10000, "0.01"}, {100000, "0.1"}, {1000000, "1"}, {10000000, "10"},
};

void metrics_add_pass(struct metrics_passes *passes, int64_t microseconds)
{
	for (size_t i = 0; i < METRICS_BUCKETS; i++)
		passes->n_below[i] += microseconds <= buckets[i].microseconds;
	passes->count++;
	passes->microseconds += microseconds;
}

static void add_metric_header(struct text *text, const char *name, const char *type,
			      const char *help)
{
	text_addf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static int count_replicas(const struct status *status, const char *role, enum replica_state state)
{
	int count = 0;

	for (size_t i = 0; i < status->n_replicas; i++)
		count += text_equals(status->replicas[i].role, role) &&
			 status->replicas[i].state == state;
	return count;
}

/* `labels` are a job's, "namespace=…,job=…", here and below. */
static void write_replicas(const struct job *job, const char *labels, const struct status *status,
			   struct text *text)
{
	add_metric_header(text, "muster_job_replicas", "gauge",
			  "Replicas of the job, by role and state.");
	for (size_t i = 0; i < job->n_roles; i++) {
		const char *role = job->roles[i].name;

		for (int state = 0; state < REPLICA_STATE_COUNT; state++)
			text_addf(text, "muster_job_replicas{%s,role=\"%s\",state=\"%s\"} %d\n",
				  labels, role, replica_state_words[state],
				  count_replicas(status, role, (enum replica_state) state));
	}
}

static void write_restarts(const char *labels, const struct status *status, struct text *text)
{
	add_metric_header(text, "muster_job_restarts_total", "counter",
			  "Restarts after failures: of the whole job, or of one of its replicas.");
	text_addf(text, "muster_job_restarts_total{%s} %d\n", labels, status->restarts);
}

/* `labels` may be empty. */
static void write_passes(const char *labels, const struct metrics_passes *passes, struct text *text)
{
	const char *comma = *labels ? "," : "";

	add_metric_header(
		text, "muster_pass_seconds", "histogram",
		"Duration of a reconcile pass, from observing the job to applying the decision.");
	for (size_t i = 0; i < METRICS_BUCKETS; i++)
		text_addf(text, "muster_pass_seconds_bucket{%s%sle=\"%s\"} %" PRId64 "\n", labels,
			  comma, buckets[i].seconds, passes->n_below[i]);
	text_addf(text, "muster_pass_seconds_bucket{%s%sle=\"+Inf\"} %" PRId64 "\n", labels, comma,
		  passes->count);
	text_addf(text, "muster_pass_seconds_sum{%s} %" PRId64 ".%06" PRId64 "\n", labels,
		  passes->microseconds / MICROSECONDS, passes->microseconds % MICROSECONDS);
	text_addf(text, "muster_pass_seconds_count{%s} %" PRId64 "\n", labels, passes->count);
}

void metrics_write(const struct job *job, const struct status *status,
		   const struct metrics_passes *passes, struct text *text)
{
	char *labels CLEANUP(mem_free_text) =
		mem_format("namespace=\"%s\",job=\"%s\"", job->name_space, job->name);

	write_replicas(job, labels, status, text);
	write_restarts(labels, status, text);
	write_passes(labels, passes, text);
}

/* For an operator. */

static const struct {
	const char *name, *help;
} job_counters[METRICS_JOB_EVENTS] = {
	[METRICS_JOB_CREATED] = {"created", "TFJobs that were created."},
	[METRICS_JOB_DELETED] = {"deleted", "TFJobs that were deleted."},
	[METRICS_JOB_SUCCESSFUL] = {"successful", "TFJobs that have succeeded."},
	[METRICS_JOB_FAILED] = {"failed", "TFJobs that have failed."},
	[METRICS_JOB_RESTARTED] = {"restarted", "Restarts of TFJobs, or of one of their replicas."},
};

static struct metrics_namespace *need_namespace(struct metrics_jobs *jobs, const char *name_space)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (text_equals(jobs->list[i].name, name_space))
			return &jobs->list[i];
	mem_grow(&jobs->list, &jobs->capacity, jobs->count, sizeof(*jobs->list));
	jobs->list[jobs->count] = (struct metrics_namespace){.name = mem_copy_text(name_space)};
	return &jobs->list[jobs->count++];
}

void metrics_count_job(struct metrics_jobs *jobs, const char *name_space,
		       enum metrics_job_event event)
{
	need_namespace(jobs, name_space)->counts[event]++;
}

static bool is_word(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return len > 0 && len <= 63 && !text[len];
}

static struct metrics_reason *need_reason(struct metrics_jobs *jobs, const char *word)
{
	for (size_t i = 0; i < jobs->n_reasons; i++)
		if (text_equals(jobs->reasons[i].word, word))
			return &jobs->reasons[i];
	if (jobs->n_reasons >= METRICS_REASONS && !text_equals(word, OTHER_REASON))
		return need_reason(jobs, OTHER_REASON);
	mem_grow(&jobs->reasons, &jobs->reasons_capacity, jobs->n_reasons, sizeof(*jobs->reasons));
	jobs->reasons[jobs->n_reasons] = (struct metrics_reason){.word = mem_copy_text(word)};
	return &jobs->reasons[jobs->n_reasons++];
}

void metrics_count_restarts(struct metrics_jobs *jobs, const char *reason, int64_t count)
{
	need_reason(jobs, reason && is_word(reason) ? reason : OTHER_REASON)->count += count;
}

void metrics_jobs_done(struct metrics_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n_reasons; i++)
		free(jobs->reasons[i].word);
	free(jobs->reasons);
	for (size_t i = 0; i < jobs->count; i++)
		free(jobs->list[i].name);
	free(jobs->list);
	*jobs = (struct metrics_jobs){0};
}

static void write_counter(const struct metrics_jobs *jobs, int event, struct text *text)
{
	char *name CLEANUP(mem_free_text) =
		mem_format("training_operator_jobs_%s_total", job_counters[event].name);

	add_metric_header(text, name, "counter", job_counters[event].help);
	for (size_t i = 0; i < jobs->count; i++)
		text_addf(text, "%s{job_namespace=\"%s\",framework=\"tensorflow\"} %" PRId64 "\n",
			  name, jobs->list[i].name, jobs->list[i].counts[event]);
}

static void write_reasons(const struct metrics_jobs *jobs, struct text *text)
{
	add_metric_header(text, "muster_operator_restarts_total", "counter",
			  "Restarts after failures, by the reason of the failure.");
	for (size_t i = 0; i < jobs->n_reasons; i++)
		text_addf(text, "muster_operator_restarts_total{reason=\"%s\"} %" PRId64 "\n",
			  jobs->reasons[i].word, jobs->reasons[i].count);
}

void metrics_write_jobs(const struct metrics_jobs *jobs, const struct metrics_operator *now,
			const struct metrics_passes *passes, struct text *text)
{
	for (int event = 0; event < METRICS_JOB_EVENTS; event++)
		write_counter(jobs, event, text);
	write_reasons(jobs, text);
	add_metric_header(text, "muster_operator_jobs", "gauge", "TFJobs in the operator's cache.");
	text_addf(text, "muster_operator_jobs %zu\n", now->n_jobs);
	add_metric_header(text, "muster_operator_queue_length", "gauge",
			  "TFJobs that are queued or being reconciled.");
	text_addf(text, "muster_operator_queue_length %zu\n", now->n_queued);
	add_metric_header(text, "muster_operator_errors_total", "counter",
			  "Passes that failed: a status could not be read or written.");
	text_addf(text, "muster_operator_errors_total %" PRId64 "\n", now->n_errors);
	write_passes("", passes, text);
}

/* Names and roles have lower-case letters, digits, '-' and '.' (spec/job.h): nothing to escape. */
#include "status/metrics.h"

#include "base/names.h"

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

/* `labels` are a job's, "namespace=…,job=…", or empty. */
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

	add_metric_header(text, "muster_job_replicas", "gauge",
			  "Replicas of the job, by role and state.");
	for (size_t i = 0; i < job->n_roles; i++) {
		const char *role = job->roles[i].name;

		for (int state = 0; state < REPLICA_STATE_COUNT; state++)
			text_addf(text, "muster_job_replicas{%s,role=\"%s\",state=\"%s\"} %d\n",
				  labels, role, replica_state_words[state],
				  count_replicas(status, role, (enum replica_state) state));
	}
	add_metric_header(text, "muster_job_restarts_total", "counter",
			  "Restarts after failures: of the whole job, or of one of its replicas.");
	text_addf(text, "muster_job_restarts_total{%s} %d\n", labels, status->restarts);
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

/* NULL: there is none of that name so far. */
static struct metrics_counts *find_counts(const struct metrics_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_equals(list->all[i].name, name))
			return &list->all[i];
	return NULL;
}

static struct metrics_counts *need_counts(struct metrics_list *list, const char *name)
{
	struct metrics_counts *found = find_counts(list, name);

	if (found)
		return found;
	mem_grow(&list->all, &list->capacity, list->count, sizeof(*list->all));
	list->all[list->count] = (struct metrics_counts){.name = mem_copy_text(name)};
	return &list->all[list->count++];
}

static void metrics_list_done(struct metrics_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->all[i].name);
	free(list->all);
	*list = (struct metrics_list){0};
}

void metrics_count_job(struct metrics_jobs *jobs, const char *name_space,
		       enum metrics_job_event event)
{
	need_counts(&jobs->namespaces, name_space)->counts[event]++;
}

static bool is_word(const char *text)
{
	size_t len = strspn(text, NAME_LETTERS NAME_DIGITS);

	return len > 0 && len <= 63 && !text[len];
}

void metrics_count_restarts(struct metrics_jobs *jobs, const char *reason, int64_t count)
{
	bool is_full = jobs->reasons.count >= METRICS_REASONS;

	if (!reason || !is_word(reason) || (is_full && !find_counts(&jobs->reasons, reason)))
		reason = OTHER_REASON;
	need_counts(&jobs->reasons, reason)->counts[0] += count;
}

void metrics_jobs_done(struct metrics_jobs *jobs)
{
	metrics_list_done(&jobs->namespaces);
	metrics_list_done(&jobs->reasons);
}

static void write_counter(const struct metrics_jobs *jobs, int event, struct text *text)
{
	char *name CLEANUP(mem_free_text) =
		mem_format("training_operator_jobs_%s_total", job_counters[event].name);

	add_metric_header(text, name, "counter", job_counters[event].help);
	for (size_t i = 0; i < jobs->namespaces.count; i++)
		text_addf(text, "%s{job_namespace=\"%s\",framework=\"tensorflow\"} %" PRId64 "\n",
			  name, jobs->namespaces.all[i].name,
			  jobs->namespaces.all[i].counts[event]);
}

void metrics_write_jobs(const struct metrics_jobs *jobs, const struct metrics_operator *now,
			const struct metrics_passes *passes, struct text *text)
{
	for (int event = 0; event < METRICS_JOB_EVENTS; event++)
		write_counter(jobs, event, text);
	add_metric_header(text, "muster_operator_restarts_total", "counter",
			  "Restarts after failures, by the reason of the failure.");
	for (size_t i = 0; i < jobs->reasons.count; i++)
		text_addf(text, "muster_operator_restarts_total{reason=\"%s\"} %" PRId64 "\n",
			  jobs->reasons.all[i].name, jobs->reasons.all[i].counts[0]);
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

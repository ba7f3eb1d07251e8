/* Names and roles of jobs are words of lower-case letters, digits and '-' or '.' (core/job.h), so
 * that no label has anything to escape. */
#include "core/metrics.h"

#include <inttypes.h>

#define MICROSECONDS 1000000

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

static void begin(struct text *text, const char *name, const char *type, const char *help)
{
	text_addf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A name, and the labels that name the job, open for more. */
static void add_name(struct text *text, const char *name, const struct job *job)
{
	text_addf(text, "%s{namespace=\"%s\",job=\"%s\"", name, job->name_space, job->name);
}

static int count_replicas(const struct status *status, const char *role, enum replica_state state)
{
	int count = 0;

	for (size_t i = 0; i < status->n_replicas; i++)
		count += text_equals(status->replicas[i].role, role) &&
			 status->replicas[i].state == state;
	return count;
}

static void write_replicas(const struct job *job, const struct status *status, struct text *text)
{
	begin(text, "muster_job_replicas", "gauge", "Replicas of the job, by role and state.");
	for (size_t i = 0; i < job->n_roles; i++) {
		const char *role = job->roles[i].name;

		for (int state = 0; state < REPLICA_STATE_COUNT; state++) {
			add_name(text, "muster_job_replicas", job);
			text_addf(text, ",role=\"%s\",state=\"%s\"} %d\n", role,
				  replica_state_words[state],
				  count_replicas(status, role, (enum replica_state) state));
		}
	}
}

static void write_restarts(const struct job *job, const struct status *status, struct text *text)
{
	begin(text, "muster_job_restarts_total", "counter",
	      "Restarts after failures: of the whole job, or of one of its replicas.");
	add_name(text, "muster_job_restarts_total", job);
	text_addf(text, "} %d\n", status->restarts);
}

static void write_passes(const struct job *job, const struct metrics_passes *passes,
			 struct text *text)
{
	begin(text, "muster_pass_seconds", "histogram",
	      "Time of a pass: from a look at the job to the end of what was decided.");
	for (size_t i = 0; i < METRICS_BUCKETS; i++) {
		add_name(text, "muster_pass_seconds_bucket", job);
		text_addf(text, ",le=\"%s\"} %" PRId64 "\n", buckets[i].seconds,
			  passes->n_below[i]);
	}
	add_name(text, "muster_pass_seconds_bucket", job);
	text_addf(text, ",le=\"+Inf\"} %" PRId64 "\n", passes->count);
	add_name(text, "muster_pass_seconds_sum", job);
	text_addf(text, "} %" PRId64 ".%06" PRId64 "\n", passes->microseconds / MICROSECONDS,
		  passes->microseconds % MICROSECONDS);
	add_name(text, "muster_pass_seconds_count", job);
	text_addf(text, "} %" PRId64 "\n", passes->count);
}

void metrics_write(const struct job *job, const struct status *status,
		   const struct metrics_passes *passes, struct text *text)
{
	write_replicas(job, status, text);
	write_restarts(job, status, text);
	write_passes(job, passes, text);
}

/* Metrics of a job for monitoring, in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4). */
#pragma once

#include "base/text.h"
#include "spec/job.h"
#include "status/status.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_BUCKETS 5

/* Reconcile passes, by duration. Zero it to begin. */
struct metrics_passes {
	int64_t n_below[METRICS_BUCKETS]; /* 1 ms, 10 ms, 100 ms, 1 s, 10 s; cumulative */
	int64_t count;
	int64_t microseconds; /* total duration */
};

void metrics_add_pass(struct metrics_passes *passes, int64_t microseconds);
/* Appends the whole text. Each role has a line for each state, also zeros: queries find it. */
void metrics_write(const struct job *job, const struct status *status,
		   const struct metrics_passes *passes, struct text *text);

/* Events of an operator, under the names of training-operator 1.9, each counted once. */
enum metrics_job_event {
	METRICS_JOB_CREATED,
	METRICS_JOB_DELETED,
	METRICS_JOB_SUCCESSFUL,
	METRICS_JOB_FAILED,
	METRICS_JOB_RESTARTED,
	METRICS_JOB_EVENTS,
};

/* Of a namespace; or of a reason for restarts, of which the first one counts. */
struct metrics_counts {
	char *name;
	int64_t counts[METRICS_JOB_EVENTS];
};

struct metrics_list {
	struct metrics_counts *all;
	size_t count, capacity;
};

/* Zero it to begin. */
struct metrics_jobs {
	struct metrics_list namespaces, reasons;
};
void metrics_count_job(struct metrics_jobs *jobs, const char *name_space,
		       enum metrics_job_event event);
/* Counts restarts by a one-word reason of the cluster ("OOMKilled"). Reasons after the first
 * METRICS_REASONS, and texts other than letters and digits, count as "Other". */
#define METRICS_REASONS 32
void metrics_count_restarts(struct metrics_jobs *jobs, const char *reason, int64_t count);
void metrics_jobs_done(struct metrics_jobs *jobs);

/* The current state of an operator. */
struct metrics_operator {
	size_t n_jobs, n_queued;
	int64_t n_errors; /* failed passes so far */
};
void metrics_write_jobs(const struct metrics_jobs *jobs, const struct metrics_operator *now,
			const struct metrics_passes *passes, struct text *text);

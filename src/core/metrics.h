/* What is told of a job to a program that watches over many: numbers in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4). */
#pragma once

#include "base/text.h"
#include "core/job.h"
#include "core/status.h"

#include <stdint.h>

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_BUCKETS 5

/* Passes of the driver, by how long they took. Zero it to begin. */
struct metrics_passes {
	int64_t n_below[METRICS_BUCKETS]; /* 1 ms, 10 ms, 100 ms, 1 s, 10 s; each counts all below
					   */
	int64_t count;
	int64_t microseconds; /* of all together */
};

void metrics_add_pass(struct metrics_passes *passes, int64_t microseconds);
/* The whole text. Each role has a line for each state, zeros too, so that a query finds it. */
void metrics_write(const struct job *job, const struct status *status,
		   const struct metrics_passes *passes, struct text *text);

/* What a list of jobs shows of one: a small JSON text kept beside the job, so that `ps` reads
 * little. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"
#include "status/status.h"

#include <stdbool.h>

struct summary {
	const char *state; /* newest true condition: "Running", "Succeeded" …, "Pending" before the
			      first; "Stopped" where it was asked to end */
	const char *roles; /* "worker=2 ps=1", in the order of the job */
	const char *message; /* one line: why it failed, what it waits for; "" when all is well */
	int running; /* replicas that run */
	int wanted; /* replicas that the job asks for */
	int restarts; /* charged ones, see struct status */
	int exit_code; /* -1 until finished */
	bool is_finished;
	msec start_time;
	msec completion_time;
	msec expires_at; /* when the job itself is to be deleted (ttlSecondsAfterFinished) */
};

/* The summary of a job and its status; its texts live in the arena or in `status`. */
void summary_create(const struct job *job, const struct status *status, struct arena *arena,
		    struct summary *ret_summary);

/* As JSON and back. Reading takes what it finds: an absent member is empty, -1 or not set. */
struct json *summary_write(const struct summary *summary) MUST_USE;
void summary_read(const struct json *value, struct arena *arena, struct summary *ret_summary);

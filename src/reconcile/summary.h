/* What a list of jobs shows of one: a small JSON text stored with it: `ps` reads little. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "spec/job.h"
#include "status/status.h"

struct summary {
	const char *state; /* newest true condition: "Running", "Succeeded" …, "Pending" before the
			      first; "Stopped" if it was asked to stop */
	const char *roles; /* "worker=2 ps=1", in the job's order */
	const char *command; /* as role_describe_command, of the role whose success is the job's */
	const char *message; /* one line: why it failed or what it waits for; "" if neither */
	int running; /* running replicas */
	int wanted; /* requested replicas */
	int restarts; /* charged ones, see struct status */
	int exit_code; /* -1 until finished */
	bool is_finished;
	msec start_time;
	msec completion_time;
	msec expires_at; /* when the job itself is to be deleted (ttlSecondsAfterFinished) */
};

/* Creates the summary of a job and its status; its texts are in the arena or in `status`. */
void summary_create(const struct job *job, const struct status *status, struct arena *arena,
		    struct summary *ret_summary);

/* As JSON and back. Reading tolerates absent members: they become empty, -1 or unset. */
struct json *summary_write(const struct summary *summary) MUST_USE;
void summary_read(const struct json *value, struct arena *arena, struct summary *ret_summary);

/* Checks whether distributed TensorFlow works: what is known so far, what to start next, and the
 * result.
 *
 * Its input is the output lines of the check's jobs, the ends of those jobs and the time; its
 * output is which jobs are wanted (check/judge). Steps are decided by the known facts, so the order
 * of events does not matter. */
#pragma once

#include "base/instant.h"
#include "base/json.h"
#include "check/facts.h"
#include "status/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The request's texts must outlive the check. */
void check_init(struct check *check, const struct check_request *request, instant now);
void check_done(struct check *check);

/* Record the two steps that muster performs itself, before any job starts. `what` describes the
 * result. On a cluster they depend on the image, and check_look begins the check. */
void check_record_library(struct check *check, const char *what, instant now);
void check_record_data(struct check *check, const char *what, instant now);
/* One of these steps failed, which ends the check. */
void check_refuse(struct check *check, enum check_step step, const char *why, instant now);

/* A wanted job has started. */
void check_job_started(struct check *check, enum check_job job, instant now);
/* An output line of a job's foreground `muster run`, without its line feed. */
void check_add_line(struct check *check, enum check_job job, const char *line, size_t len,
		    instant now);
/* An event of servers from another source: "network", from this machine. */
void check_add_event(struct check *check, const struct json *event, instant now);
/* A job has ended; `status` is from its record, NULL if there is none. */
void check_job_ended(struct check *check, enum check_job job, int exit_code,
		     const struct status *status, instant now);
/* The process of a replica is paused, or continues. Evaluated before a step is given up. */
void check_record_stopped(struct check *check, enum check_job job, const char *name,
			  bool is_stopped);
/* The time of check_wake_at has come. */
void check_look(struct check *check, instant now);
/* The user wants to end the check. */
void check_interrupt(struct check *check, int signal_number, instant now);

/* 0 passed, 1 failed, 3 not found or not reached, 128 + n interrupted by signal n. */
int check_exit_code(const struct check *check);

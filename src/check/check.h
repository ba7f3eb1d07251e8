/* Whether distributed TensorFlow works: what is known so far, what to start next, and the result.
 *
 * Input are the output lines of the check's jobs, their ends, and the time; output is which jobs
 * are wanted. Known facts decide steps, so the order of events does not matter. */
#pragma once

#include "check/facts.h"
#include "status/status.h"

/* The request's texts must outlive the check. */
void check_init(struct check *check, const struct check_request *request, instant now);
void check_done(struct check *check);

/* A step that muster performs itself (library, data) has passed; `what` describes the result. On a
 * cluster these depend on the image, and check_look begins the check. */
void check_record_found(struct check *check, enum check_step step, const char *what, instant now);
/* Such a step failed, which ends the check. */
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

/* Whether the job should run now: start it if it has not started, end it if not wanted. */
bool check_wants(const struct check *check, enum check_job job);
/* Whether a process reported a silence: look for paused processes before the jobs are ended. */
bool check_suspects(const struct check *check);
/* When to look again; INSTANT_NEVER: only after an event. */
instant check_wake_at(const struct check *check);
/* The result is known and no job is running, except servers that stay after --setup-only. */
bool check_is_over(const struct check *check);
/* The current step; CHECK_STEP_COUNT: none. */
enum check_step check_current_step(const struct check *check);
/* 0 passed, 1 failed, 3 not found or not reached, 128 + n interrupted by signal n. */
int check_exit_code(const struct check *check);

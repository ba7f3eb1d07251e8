/* Does distributed TensorFlow work? What is known of it so far, what is to be started next, and
 * what was found in the end.
 *
 * Lines that the jobs of a check print, the ends of those jobs and the time go in; which jobs are
 * wanted comes out (check/judge). A step is decided by looking at the facts, so it does not
 * matter in which order they came. */
#pragma once

#include "base/json.h"
#include "base/msec.h"
#include "check/facts.h"
#include "status/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The request's texts must outlive the check. */
void check_init(struct check *check, const struct check_request *request, msec now);
void check_done(struct check *check);

/* The two steps that muster takes itself, before anything is started. `what` says what was found.
 * On a cluster they are the image's matter, and check_look begins the check. */
void check_record_library(struct check *check, const char *what, msec now);
void check_record_data(struct check *check, const char *what, msec now);
/* One of them failed: that is the end. */
void check_refuse(struct check *check, enum check_step step, const char *why, msec now);

/* A job that was wanted runs. */
void check_job_started(struct check *check, enum check_job job, msec now);
/* A line that the foreground `muster run` of a job has printed, without its line feed. */
void check_add_line(struct check *check, enum check_job job, const char *line, size_t len,
		    msec now);
/* An event of servers that was found out in another way: "network", from this machine. */
void check_add_event(struct check *check, const struct json *event, msec now);
/* A job has ended; `status` is that of its record, NULL where there is none. */
void check_job_ended(struct check *check, enum check_job job, int exit_code,
		     const struct status *status, msec now);
/* The process of a replica is stopped, or goes on. Looked at before a step is given up. */
void check_record_stopped(struct check *check, enum check_job job, const char *name,
			  bool is_stopped);
/* The moment check_wake_at gave has come. */
void check_look(struct check *check, msec now);
/* Somebody wants it to end. */
void check_interrupt(struct check *check, int signal_number, msec now);

/* 0 passed, 1 failed, 3 not found or not reached, 128 + n interrupted by signal n. */
int check_exit_code(const struct check *check);

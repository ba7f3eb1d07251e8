/* muster's own notes about one job, kept beside the logs of its replicas in muster.log. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"

struct job_log;

/* Opens the file in the job's folder for adding. Notes are a comfort: where they cannot be kept,
 * nothing else suffers. */
struct job_log *job_log_open(const char *job_folder) MUST_USE;
void job_log_close(struct job_log *log); /* NULL is fine */

/* Adds one line: TIME LEVEL REASON: SENTENCE. NULL is fine for the log. */
void job_log_add(struct job_log *log, msec now, const char *level, const char *reason,
		 const char *sentence);

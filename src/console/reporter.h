/* What is told of one job while it is seen through: to the terminal and into the job's own log; and
 * its status as it was written last, which is there when the record is gone. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "console/console.h"
#include "jobs/reconciler.h"
#include "logs/output_copies.h"
#include "status/status.h"

#include <stdint.h>

struct job_log;

/* Opens the file in the job's folder for adding. Notes are a comfort: where they cannot be kept,
 * nothing else suffers. */
struct job_log *job_log_open(const char *job_folder) MUST_USE;
void job_log_close(struct job_log *log); /* NULL is fine */

/* Adds one line: TIME LEVEL REASON: SENTENCE. NULL is fine for the log. */
void job_log_add(struct job_log *log, msec now, const char *level, const char *reason,
		 const char *sentence);

/* Zero it to begin. */
struct reporter {
	struct console *console; /* NULL without a terminal to write to */
	struct job_log *log;
	struct output_copies *copies; /* of what the replicas print; NULL: none are wanted */
	char *last_trouble; /* told already */
	struct arena *arena; /* of `status` */
	struct status status; /* as it was last written */
	struct json *document; /* and the job it belongs to; NULL: none was written */
};

/* Opens the job's log in its folder; from here on io/log is told there and on the console. A job of
 * which no status is ever told ends by muster's own fault. */
void reporter_begin(struct reporter *reporter, const char *job_folder);
/* The pattern (spec/output_path.h) is borrowed, as the job; NULL: no copies are wanted. */
void reporter_create_copies(struct reporter *reporter, const char *pattern, const struct job *job);
void reporter_done(struct reporter *reporter);

/* A sentence of muster's own. */
void reporter_print_message(struct reporter *reporter, const char *sentence);
void reporter_sayf(struct reporter *reporter, const char *format, ...) PRINTF_LIKE(2, 3);
/* Somebody pressed Ctrl-C, and its `parts` ("Pods") have the job's grace time. */
void reporter_print_stopping(struct reporter *reporter, const struct job *job, const char *parts);
/* What fails is tried again and again; it is said once, not every second. NULL: nothing fails. */
void reporter_print_error(struct reporter *reporter, const char *sentence);
/* How far the start of its Pods has come. */
void reporter_show_startup(const struct reporter *reporter, const struct startup *startup);
/* There is more in the logs. */
void reporter_show_output(const struct reporter *reporter);
/* Hears what the reconciler tells. */
struct reconciler_listener reporter_listener(struct reporter *reporter);

/* Nobody has the record of the job any more: it has ended, for a reason of reconcile_lost. */
void reporter_end(struct reporter *reporter, const struct job *job, const char *reason,
		  const char *why);

/* The TFJob with its status on stdout, where anything is known. Where that cannot be written it is
 * told, and a job that succeeded has the exit code 125 from then on. */
void reporter_print(struct reporter *reporter, const char *uid, msec created, int64_t version);

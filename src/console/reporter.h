/* Reports on one job under supervision: to the terminal and into the job's own log. Keeps its last
 * written status, which is needed after the record was deleted. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "console/console.h"
#include "jobs/reconciler.h"
#include "logs/output_copies.h"
#include "status/status.h"

/* Zero it to begin. */
struct reporter {
	struct console *console; /* NULL without a terminal to write to */
	int log_fd; /* muster.log of the job; 0 or less: it is not open */
	struct output_copies *copies; /* of the replicas' output; NULL: none */
	char *last_trouble; /* already reported */
	struct arena *arena; /* of `status` */
	struct status status; /* as it was last written */
	struct json *document; /* and its job; NULL: none was written */
};

/* Opens the job's log in its directory; from here on io/log writes to it and to the console. Errors
 * are ignored: notes are not essential. A job whose status is never reported exits with an internal
 * error. */
void reporter_begin(struct reporter *reporter, const char *job_folder);
/* Adds a line to the log, with one call, so that lines never mix: TIME LEVEL REASON: SENTENCE. */
void reporter_add_to_log(const struct reporter *reporter, msec now, const char *level,
			 const char *reason, const char *sentence);
/* The pattern (spec/output_path.h), the streams and the job are borrowed; without a pattern there
 * are no copies. */
void reporter_create_copies(struct reporter *reporter, const char *pattern,
			    const struct streams *streams, const struct job *job);
void reporter_done(struct reporter *reporter);

/* Prints a sentence of muster's own. */
void reporter_print_message(struct reporter *reporter, const char *sentence);
void reporter_sayf(struct reporter *reporter, const char *format, ...) PRINTF_LIKE(2, 3);
/* The user pressed Ctrl-C, and its `parts` ("Pods") have the job's grace period. */
void reporter_print_stopping(struct reporter *reporter, const struct job *job, const char *parts);
/* Prints a repeated error once, not every second. NULL: there is no error. */
void reporter_print_error(struct reporter *reporter, const char *sentence);
/* The progress of its Pods' startup. */
void reporter_show_startup(const struct reporter *reporter, const struct startup *startup);
/* The listener for the reconciler. */
struct reconciler_listener reporter_listener(struct reporter *reporter);

/* The record of the job was deleted: it has ended, for a reason of reconcile_lost. */
void reporter_end(struct reporter *reporter, const struct job *job, const char *reason,
		  const char *why);

/* Prints the TFJob with its status on stdout, if known. A failure to write is reported, and the
 * exit code of a job that succeeded becomes 125. */
void reporter_print(struct reporter *reporter, const char *uid, msec created, int64_t version);

/* Runs the shell command of --notify, whose environment has the outcome, and waits for it, but no
 * longer than a minute. Its output goes to stderr, as messages do; its failure is printed. */
void reporter_notify(struct reporter *reporter, const struct job *job, const char *command);

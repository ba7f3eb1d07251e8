/* What a user sees of a job: the replicas' lines merged, notes, startup progress, the failure
 * report, the summary line.
 *
 * Lines are read from the log files (logs/reader), so a slow terminal lags and blocks no replica.
 * Data goes to stdout, messages to stderr; on a terminal progress bars and a live line at the
 * bottom are updated in place. */
#pragma once

#include "base/err.h"
#include "io/loop.h"
#include "logs/folder.h"
#include "logs/output_copies.h"
#include "logs/unsaved_output.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

/* The user's choices for the output of a job's replicas. */
struct console_style {
	const char *color; /* "auto", "always", "never"; NO_COLOR applies to "auto" */
	bool is_quiet; /* no output of replicas */
	bool hides_names; /* before the lines */
	bool shows_times; /* of the lines */
	bool is_local; /* times in this machine's time zone, not UTC */
	const struct log_name *only; /* only these replicas; their attempts are ignored; borrowed */
	size_t n_only; /* 0: all replicas */
	struct streams streams; /* what it has is borrowed */
};

struct console_settings {
	msec bars_every; /* as in console/log_view.h */
	struct loop *loop;
	const char *log_folder; /* of this job; borrowed */
	struct unsaved_output *unsaved_output; /* output that its logs could not take; NULL: another
						  process writes the logs */
	const char *job_words; /* spec/job.h; NULL: the job's name */
	int lines_fd; /* for the replicas' lines: 1, or 2 under -o json */
	int chatter_fd; /* for messages: 2 */
	struct console_style style;
};

struct console;
int console_new(const struct console_settings *settings, const struct job *job,
		struct console **ret_console, struct err *err) MUST_USE;
void console_free(struct console *console); /* NULL is fine */

/* There is more in the log files. Cheap; may be called for every chunk. */
void console_on_output(struct console *console);
void console_on_note(struct console *console, const struct note *note);
/* Updates the live line ("2 of 4 running, waiting for worker-3"). */
void console_on_status(struct console *console, const struct status *status);
/* The progress of its Pods' startup: replaces the counts in the live line. Without a live line, a
 * message says when all are running for the first time. `status` is the last one. */
void console_on_startup(struct console *console, const struct startup *startup,
			const struct status *status);
/* Prints a line of muster's own: "muster: …". */
void console_print(struct console *console, const char *sentence);

/* The job has finished: shows every line that was written, then the summary line (and for a failure
 * the block of reconcile/report), and calls `on_drained` from the loop. It does not wait for a
 * closed reader. It does wait for one that does not read; free the console to stop waiting. */
void console_finish(struct console *console, const struct status *status, loop_fn on_drained,
		    void *data);

/* What a person sees of a job: the replicas' lines merged, notes, start-up progress, the failure
 * block, the summary line.
 *
 * Lines are read from the log files (logs/reader), so a slow terminal lags and holds nobody
 * up. Data goes to stdout, chatter to stderr; on a terminal progress bars and a live line at the
 * bottom are updated in place. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "console/console_style.h"
#include "io/loop.h"
#include "logs/unsaved_output.h"
#include "reconcile/plan.h"
#include "reconcile/startup.h"
#include "spec/job.h"
#include "status/status.h"

#include <stdbool.h>

struct console_settings {
	struct loop *loop;
	const char *log_folder; /* of this job; borrowed */
	struct unsaved_output *unsaved_output; /* what its logs cannot take; NULL: the logs are not
				  ours to write */
	const char *job_words; /* spec/job_words.h; NULL: the job's name */
	int lines_fd; /* where the replicas' lines go: 1, or 2 under -o json */
	int chatter_fd; /* 2 */
	struct console_style style;
};

struct console;
int console_new(const struct console_settings *settings, const struct job *job,
		struct console **ret_console, struct err *err) MUST_USE;
void console_free(struct console *console); /* NULL is fine */

/* There is more in the log files. Cheap; may be called for every chunk. */
void console_on_output(struct console *console);
void console_on_note(struct console *console, const struct note *note);
/* Changes the live line ("2 of 4 running, waiting for worker-3") and remembers what is awaited. */
void console_on_status(struct console *console, const struct status *status);
/* How far the start of its Pods has come: takes the place of mere counts in the live line. Without
 * one, a line says when all run for the first time. The status is the last one. */
void console_on_startup(struct console *console, const struct startup *startup,
			const struct status *status);
/* A line of muster's own: "muster: …". */
void console_print(struct console *console, const char *sentence);

/* The job has ended: shows every line that was written, then the summary line (and for a failure
 * the block of reconcile/report), and calls `on_drained` from the loop. A reader that is gone is
 * not waited for; one that does not read is, and may be given up by freeing the console. */
void console_finish(struct console *console, const struct status *status, loop_fn on_drained,
		    void *data);

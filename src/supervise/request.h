/* How the user wants a job to be supervised, on any back end. */
#pragma once

#include "console/console.h"
#include "http/listening.h"

#include <stdbool.h>

struct supervision_request {
	const char *job_words; /* how command lines name the job: spec/job.h */
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	const struct listening *metrics; /* where to serve the job's metrics; NULL: nowhere */
	struct console_style style;
	const char *copy_pattern; /* spec/output_path.h; NULL: no copies of output */
	bool stops_at[2]; /* SIGUSR1 and SIGUSR2 stop the job, with that signal; else its processes
			     get them */
	bool is_detached; /* leave a supervisor running that outlives the terminal */
	bool prints_json; /* print the TFJob on stdout at the end; output goes to stderr */
};

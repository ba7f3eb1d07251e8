/* How a person wants a job to be seen through, wherever it runs. */
#pragma once

#include "console/console_style.h"
#include "http/listening.h"

#include <stdbool.h>

struct supervision_request {
	const char *job_words; /* how command lines name it: spec/job_words.h */
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	const struct listening *metrics; /* where the job's metrics are; NULL: nowhere */
	struct console_style style;
	const char *copy_pattern; /* spec/output_path.h; NULL: no copies of output */
	bool is_detached; /* leave a supervisor behind that outlives the terminal */
	bool prints_json; /* the TFJob on stdout when all is over; lines go to stderr */
};

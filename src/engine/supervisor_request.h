/* What a supervisor is asked to do: one job, and how it is shown. */
#pragma once

#include "core/gpus.h"
#include "core/job.h"

#include <stdbool.h>

struct supervisor_request {
	struct job *job; /* borrowed; without uid, unless `is_resumed` */
	const char *job_words; /* how command lines name it: core/job_words.h */
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	const struct gpus *gpus; /* of this machine (machine_gpus_find) */
	bool is_detached; /* leave a supervisor behind that outlives the terminal */
	bool replaces_finished; /* a finished job of this name is deleted first */
	bool is_resumed; /* the job is that of resumption_read, and goes on where it ended */
	bool is_quiet; /* no lines of replicas on the terminal */
	bool prints_json; /* the TFJob on stdout when all is over; lines go to stderr */
	const char *color; /* "auto", "always", "never" */
};

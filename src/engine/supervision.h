/* The inner process of a supervisor: loop, store, driver, local back end, console and control
 * socket, put together until one job has ended. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/gpus.h"
#include "core/job.h"
#include "io/guard.h"
#include "io/listening.h"
#include "io/loop.h"

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
	const struct listening *metrics; /* where the job's metrics are; NULL: nowhere */
	const char *color; /* "auto", "always", "never" */
};

/* Records the job (which has its uid) and sees it through. `on_started` (may be NULL) is called
 * once, when the first replicas were started or could not be. Returns when the job has ended and
 * nothing is left of it; *ret_exit_code is the job's own. An error means that nothing was
 * started. */
int supervision_run(const struct supervisor_request *request, const struct guard *guard,
		    loop_fn on_started, void *data, int *ret_exit_code, struct err *err) MUST_USE;

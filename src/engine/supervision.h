/* The inner process of a supervisor: loop, store, driver, local back end, console and control
 * socket, put together until one job has ended. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "engine/supervisor_request.h"
#include "io/guard.h"
#include "io/loop.h"

/* Records the job (which has its uid) and sees it through. `on_started` (may be NULL) is called
 * once, when the first replicas were started or could not be. Returns when the job has ended and
 * nothing is left of it; *ret_exit_code is the job's own. An error means that nothing was
 * started. */
int supervision_run(const struct supervisor_request *request, const struct guard *guard,
		    loop_fn on_started, void *data, int *ret_exit_code, struct err *err) MUST_USE;

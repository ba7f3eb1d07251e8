/* One job seen through on this machine: guard, loop, store, reconciler, local back end, console and
 * control socket put together. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "local/supervision.h"

/* Attached: comes back in two processes (io/guard.h), in the outer one last and with the same exit
 * code; the caller returns from main in both, and says nothing more when there is no error. It
 * returns when the job has ended and nothing is left of it; *ret_exit_code is the job's
 * own. Detached: returns when the job is recorded and its first replicas were started (or could not
 * be). An error is muster's own fault (or a name that is taken): nothing was started. */
int supervisor_run(const struct supervisor_request *request, int *ret_exit_code,
		   struct err *err) MUST_USE;

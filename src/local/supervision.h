/* The inner process of a supervisor: a supervision (supervise/supervision.h) with the store of this
 * machine, the local back end and a control socket, until one job has finished. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "elastic/agent.h"
#include "io/guard.h"
#include "io/loop.h"
#include "local/backend.h"
#include "spec/gpus.h"
#include "spec/job.h"
#include "supervise/background.h"
#include "supervise/request.h"

#include <stdbool.h>

struct supervisor_request {
	struct supervision_request base;
	struct job *job; /* borrowed; without uid, unless `is_resumed` */
	const struct agent_request *agent; /* the job is this machine's part of an elastic one;
					      NULL: the whole job is on this machine */
	const struct gpus *gpus; /* of this machine (machine_gpus_find) */
	struct replica_input input;
	bool replaces_finished; /* a finished job of this name is deleted first */
	bool is_resumed; /* the job is that of resumption_read, and continues where it ended */
};

/* Records the job (which has its uid) and supervises it. `started` (may be NULL) is called once,
 * when the first replicas were started or could not be. Returns when the job has finished and no
 * process of it is left; *ret_exit_code is the job's own. An error means that nothing was
 * started. */
int supervision_local_run(const struct supervisor_request *request, const struct guard *guard,
			  background_started_fn started, void *background, int *ret_exit_code,
			  struct err *err) MUST_USE;

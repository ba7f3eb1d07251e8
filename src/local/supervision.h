/* Supervises one job on this machine: connects guard, loop, store, reconciler, local back end,
 * console and control socket. */
#pragma once

#include "base/err.h"
#include "elastic/agent.h"
#include "local/backend.h"
#include "spec/gpus.h"
#include "spec/job.h"
#include "supervise/supervision.h"

struct supervisor_request {
	struct supervision_request base;
	struct job *job; /* borrowed; without uid, unless `is_resumed` */
	const struct agent_request *agent; /* the job is this machine's part of an elastic one;
					      NULL: the whole job is on this machine */
	const struct gpus *gpus; /* of this machine (machine_gpus_find) */
	struct replica_input input;
	bool has_terminals; /* these two as in local/backend.h */
	int name_columns;
	bool replaces_finished; /* a finished job of this name is deleted first */
	bool is_resumed; /* the job is that of resumption_read, and continues where it ended */
};

/* Attached: returns in two processes (io/guard.h), in the outer one last and with the same exit
 * code; the caller returns from main in both, and prints nothing more if there is no error. It
 * returns when the job has finished and no process of it is left; *ret_exit_code is the job's own.
 * Detached: returns when the job is recorded and its first replicas were started (or could not be).
 * An error is an internal error (or a name that is taken): nothing was started. */
int supervisor_run(const struct supervisor_request *request, int *ret_exit_code,
		   struct err *err) MUST_USE;

/* The options of `muster launch`, which are torchrun's: each from the command line, else from
 * PET_NAME in the environment, else torchrun's default.
 *
 * Source: torch/distributed/run.py and torch/distributed/argparse_util.py of PyTorch 2.15. */
#pragma once

#include "base/text.h"
#include "cli/rendezvous_endpoint.h"
#include "command/options.h"
#include "elastic/agent.h"
#include "spec/gpus.h"
#include "spec/slurm_step.h"
#include "spec/tf_cluster.h"

#define RESTARTS_UNLIMITED "unlimited" /* a value of --max-restarts */

struct launch_signals {
	bool stops_at[2]; /* SIGUSR1 and SIGUSR2 */
	msec grace;
	bool has_grace; /* it was given */
};

struct launch {
	const struct slurm_step *step; /* that says where machines meet; NULL: the user does */
	/* All but what the endpoint, once known, and our server determine. Its job_id is
	 * TORCHELASTIC_RUN_ID: the id that was given, "none", or a random one. */
	struct agent_request agent;
	struct tf_cluster_machine machine; /* local_size 0: we start all processes of it */
	int n_processes;
	const char *job_id; /* NULL: not given */
	bool is_shared; /* machines may meet: the id of a job is not random */
	struct rendezvous_endpoint endpoint; /* without a host for a single machine */
	bool never_serves; /* is_host=0 of --rdzv-conf, or TLS: the server is another process */
	bool is_alone; /* no other machine joins: the endpoint is still to be chosen */
	bool has_node_rank; /* it was given, by the user or by Slurm */
	bool is_module; /* -m */
	bool is_program; /* --no-python */
};

/* The texts are borrowed from the options, or in the arena; the endpoint is the caller's. `step` is
 * the step of Slurm that we are a task of, or NULL: what no option says is taken from it. Each
 * error is a line of `faults`. */
void launch_read(const struct options *options, const struct gpus *gpus,
		 const struct slurm_step *step, struct arena *arena, struct launch *ret_launch,
		 struct text *faults);

/* --signals-to-handle and --shutdown-timeout, or their variables. In a step of Slurm the default of
 * the latter leaves time for a report. */
void launch_signals_read(const struct options *options, bool is_in_step,
			 struct launch_signals *ret_signals, struct text *faults);

/* Rows for the table of the command. */
#define LAUNCH_ROWS                                                                                \
	OPTION("nnodes", TEXT, "MIN[:MAX]", NULL,                                                  \
	       "number of machines that train together (default 1)"),                              \
		OPTION("nproc-per-node", TEXT, "N", NULL,                                          \
		       "processes on this machine, or auto, cpu, gpu (default 1)"),                \
		OPTION("node-unit", TEXT, "N", NULL,                                               \
		       "train only with a multiple of this number of machines (default 1)"),       \
		OPTION("rdzv-endpoint", TEXT, "HOST[:PORT]", NULL,                                 \
		       "rendezvous server; the machine with this address runs it (port 29400)"),   \
		RENDEZVOUS_TRUST_ROWS,                                                             \
		OPTION("rdzv-id", TEXT, "ID", NULL, "id of the job, the same on all machines"),    \
		OPTION("rdzv-backend", TEXT, "NAME", NULL,                                         \
		       "c10d: rank 0 chooses its address; static: it is given"),                   \
		OPTION("rdzv-conf", TEXT, "K=V,...", NULL,                                         \
		       "join_timeout (600), last_call_timeout (1), read_timeout (60): seconds"),   \
		OPTION("node-rank", TEXT, "N", NULL,                                               \
		       "rank of this machine (default: in order of arrival)"),                     \
		OPTION("master-addr", TEXT, "HOST", NULL,                                          \
		       "MASTER_ADDR, the address of the machine of rank 0"),                       \
		OPTION("master-port", TEXT, "PORT", NULL,                                          \
		       "MASTER_PORT (default 29500); machines meet at the port 10000 lower"),      \
		OPTION("role", TEXT, "NAME", NULL,                                                 \
		       "ROLE_NAME of the processes (default \"default\")"),                        \
		FLAG("run-path", "accepted for torchrun: a script always runs as __main__"),       \
		OPTION("start-method", TEXT, "NAME", NULL,                                         \
		       "spawn, fork or forkserver: no effect, processes are programs"),            \
		OPTION("event-log-handler", TEXT, "NAME", NULL,                                    \
		       "accepted, no effect: see muster status and muster logs"),                  \
		FLAG("standalone", "run on this machine only, without an endpoint"),               \
		OPTION("max-restarts", TEXT, "N", NULL,                                            \
		       "maximum number of restarts after failures, or unlimited (default 0)"),     \
		OPTION("restart-window", DURATION, "TIME", NULL,                                   \
		       "count only the restarts of the last TIME (default: all)"),                 \
		OPTION("max-no-progress", TEXT, "N", NULL,                                         \
		       "failures in a row without a new step that end the job (default 3)"),       \
		OPTION("monitor-interval", TEXT, "SECONDS", NULL,                                  \
		       "accepted, no effect: exits are noticed immediately"),                      \
		OPTION("local-addr", TEXT, "HOST", NULL,                                           \
		       "address of this machine for the other machines"),                          \
		OPTION("local-port", TEXT, "PORT", NULL,                                           \
		       "port of this machine's only process, in every generation"),                \
		FLAG("virtual-local-rank", "show each process only its own GPU, as LOCAL_RANK 0"), \
		OPTION("numa-binding", TEXT, "MODE", NULL,                                         \
		       "rejected: let the script or numactl bind the processes"),                  \
		OPTION("logs-specs", TEXT, "NAME", NULL, "accepted for torchrun: only default"),   \
		FLAG("use-env", "accepted, no effect: LOCAL_RANK is in the environment"),          \
		FLAG("module", "run a Python module: python -m MODULE", .letter = 'm'),            \
		FLAG("no-python", "run a program instead of a Python script")

#define LAUNCH_SIGNAL_ROWS                                                                         \
	OPTION("signals-to-handle", TEXT, "NAMES", NULL,                                           \
	       "SIGUSR1,SIGUSR2: they stop the job (default: its processes get them)"),            \
		OPTION("shutdown-timeout", TEXT, "SECONDS", NULL,                                  \
		       "between the stop signal and SIGKILL, or a time as 2m (default 30)")

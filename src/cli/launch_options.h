/* The options of `muster launch`, which are torchrun's: each from the command line, else from
 * PET_NAME in the environment, else torchrun's default.
 *
 * Source: torch/distributed/run.py and torch/distributed/argparse_util.py of PyTorch 2.15. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"
#include "cli/launch_address.h"
#include "cli/rendezvous_endpoint.h"
#include "command/options.h"
#include "rendezvous/member_wire.h"
#include "spec/gpus.h"
#include "spec/slurm_step.h"
#include "spec/tf_cluster.h"

#include <stdbool.h>

#define RESTARTS_UNLIMITED "unlimited" /* a value of --max-restarts */

struct launch_signals {
	bool stops_at[2]; /* SIGUSR1 and SIGUSR2 */
	msec grace;
	bool has_grace; /* it was given */
};

struct launch {
	const struct slurm_step *step; /* that says where machines meet; NULL: the user does */
	struct tf_cluster_machine machine; /* local_size 0: we start all processes of it */
	struct member_terms terms;
	int n_processes;
	const char *job_id; /* NULL: not given */
	char *run_id; /* TORCHELASTIC_RUN_ID: that id, "none", or a random one */
	struct launch_address address;
	msec patience; /* with a server that cannot be reached at the beginning */
	struct rendezvous_endpoint endpoint; /* without a host for a single machine */
	bool never_serves; /* is_host=0 of --rdzv-conf, or TLS: the server is another process */
	bool is_alone; /* no other machine joins: the endpoint is still to be chosen */
	const char *own_address; /* NULL: not given */
	int own_port; /* of the only process; 0: not given */
	const char *role_name;
	int node_rank;
	bool has_node_rank; /* it was given, by the user or by Slurm */
	bool has_virtual_local_rank; /* each process sees its own GPU, as LOCAL_RANK 0 */
	bool is_module; /* -m */
	bool is_program; /* --no-python */
};

void launch_done(struct launch *launch);
/* `step` is the step of Slurm that we are a task of, or NULL: what no option says is taken from it.
 * Each error is a line of `faults`. */
void launch_read(const struct options *options, const struct gpus *gpus,
		 const struct slurm_step *step, struct launch *ret_launch, struct text *faults);

/* --signals-to-handle and --shutdown-timeout, or their variables. In a step of Slurm the default of
 * the latter leaves time for a report. */
void launch_signals_read(const struct options *options, bool is_in_step,
			 struct launch_signals *ret_signals, struct text *faults);

/* Rows for the table of the command. */
#define LAUNCH_ROWS                                                                                \
	{.name = "nnodes",                                                                         \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "MIN[:MAX]",                                                                \
	 .one_line = "number of machines that train together (default 1)"},                        \
		{.name = "nproc-per-node",                                                         \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "N",                                                                \
		 .one_line = "processes on this machine, or auto, cpu, gpu (default 1)"},          \
		{.name = "node-unit",                                                              \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "N",                                                                \
		 .one_line = "train only with a multiple of this number of machines (default 1)"}, \
		{.name = "rdzv-endpoint",                                                          \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "HOST[:PORT]",                                                      \
		 .one_line =                                                                       \
			 "rendezvous server; the machine with this address runs it (port 29400)"}, \
		RENDEZVOUS_TRUST_ROWS,                                                             \
		{.name = "rdzv-id",                                                                \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "ID",                                                               \
		 .one_line = "id of the job, the same on all machines"},                           \
		{.name = "rdzv-backend",                                                           \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "c10d: rank 0 chooses its address; static: it is given"},             \
		{.name = "rdzv-conf",                                                              \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "K=V,...",                                                          \
		 .one_line =                                                                       \
			 "join_timeout (600), last_call_timeout (1), read_timeout (60): seconds"}, \
		{.name = "node-rank",                                                              \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "N",                                                                \
		 .one_line = "rank of this machine (default: in order of arrival)"},               \
		{.name = "master-addr",                                                            \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "HOST",                                                             \
		 .one_line = "MASTER_ADDR, the address of the machine of rank 0"},                 \
		{.name = "master-port",                                                            \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "PORT",                                                             \
		 .one_line =                                                                       \
			 "MASTER_PORT (default 29500); machines meet at the port 10000 lower"},    \
		{.name = "role",                                                                   \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "ROLE_NAME of the processes (default \"default\")"},                  \
		{.name = "run-path",                                                               \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "accepted for torchrun: a script always runs as __main__"},           \
		{.name = "start-method",                                                           \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "spawn, fork or forkserver: no effect, processes are programs"},      \
		{.name = "event-log-handler",                                                      \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "accepted, no effect: see muster status and muster logs"},            \
		{.name = "standalone",                                                             \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "run on this machine only, without an endpoint"},                     \
		{.name = "max-restarts",                                                           \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "N",                                                                \
		 .one_line =                                                                       \
			 "maximum number of restarts after failures, or unlimited (default 0)"},   \
		{.name = "restart-window",                                                         \
		 .kind = OPTION_DURATION,                                                          \
		 .value_name = "TIME",                                                             \
		 .one_line = "count only the restarts of the last TIME (default: all)"},           \
		{.name = "max-no-progress",                                                        \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "N",                                                                \
		 .one_line = "failures in a row without a new step that end the job (default 3)"}, \
		{.name = "monitor-interval",                                                       \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "SECONDS",                                                          \
		 .one_line = "accepted, no effect: exits are noticed immediately"},                \
		{.name = "local-addr",                                                             \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "HOST",                                                             \
		 .one_line = "address of this machine for the other machines"},                    \
		{.name = "local-port",                                                             \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "PORT",                                                             \
		 .one_line = "port of this machine's only process, in every generation"},          \
		{.name = "virtual-local-rank",                                                     \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "show each process only its own GPU, as LOCAL_RANK 0"},               \
		{.name = "numa-binding",                                                           \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "MODE",                                                             \
		 .one_line = "rejected: let the script or numactl bind the processes"},            \
		{.name = "logs-specs",                                                             \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "accepted for torchrun: only default"},                               \
		{.name = "use-env",                                                                \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "accepted, no effect: LOCAL_RANK is in the environment"},             \
		{.name = "module",                                                                 \
		 .letter = 'm',                                                                    \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "run a Python module: python -m MODULE"},                             \
	{                                                                                          \
		.name = "no-python", .kind = OPTION_FLAG,                                          \
		.one_line = "run a program instead of a Python script"                             \
	}

#define LAUNCH_SIGNAL_ROWS                                                                         \
	{.name = "signals-to-handle",                                                              \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "NAMES",                                                                    \
	 .one_line = "SIGUSR1,SIGUSR2: they stop the job (default: its processes get them)"},      \
	{                                                                                          \
		.name = "shutdown-timeout", .kind = OPTION_TEXT, .value_name = "SECONDS",          \
		.one_line = "between the stop signal and SIGKILL, or a time as 2m (default 30)"    \
	}

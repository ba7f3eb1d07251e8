/* What a replica's process is started with on this machine: command, environment, folder. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "io/child.h"
#include "spec/tf_cluster.h"

/* What of this machine a replica may use. */
struct local_machine {
	const char *visible_gpus; /* CUDA_VISIBLE_DEVICES; NULL: it stays our own */
	const char *stacks_hook; /* the folder of our sitecustomize; NULL: there is none. Python
				    writes into the cluster's report_folder (jobs/stacks_file.h) */
	double cores; /* shared by all replicas of the job (spec/threads.h); 0: not known */
};

/* Fills everything but the output descriptor; `cluster` has a report_folder. What it points to
 * lives in the arena (and in muster's own environment). The environment is muster's own, then what
 * muster says of the cluster, the two marks, and the container's env, later ones winning. $(NAME)
 * stands for a variable of the last three, as on Kubernetes, where no other ones exist. A command
 * `muster`, without a path, is this very program (`muster server …`). `cluster->job` has the uid.
 * What `machine` leads to the container's env may change. */
void local_start_describe(const struct tf_cluster *cluster, const struct role *role, int index,
			  int attempt, const struct local_machine *machine, struct arena *arena,
			  struct child_start *ret_start);

/* The attempt's mark as an entry of its environment: "MUSTER_ATTEMPT_ID=UID/ROLE-INDEX.ATTEMPT". */
char *local_start_mark(const char *uid, const char *role, int index, int attempt) MUST_USE;
/* The file that is created when the attempt is asked to end, for a script that cannot handle the
 * signal: its MUSTER_STOP_FILE. Caller frees. */
char *local_start_stop_file(const char *report_folder, const char *role, int index,
			    int attempt) MUST_USE;

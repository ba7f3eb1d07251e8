/* Describes the start of a replica's process on this machine: command, environment, directory. */
#pragma once

#include "base/mem.h"
#include "io/child.h"
#include "spec/tf_cluster.h"

/* The resources of this machine for a replica. */
struct local_machine {
	const char *visible_gpus; /* CUDA_VISIBLE_DEVICES; NULL: ours stays */
	const char *stacks_hook; /* the directory of our sitecustomize; NULL: none. Python writes
				    into the cluster's report_folder (jobs/processes.h) */
	const char *error_file; /* TORCHELASTIC_ERROR_FILE; "": none; NULL: ours stays */
	double cores; /* real ones, shared by all replicas of the job (spec/environment.h); 0:
		       * unknown
		       */
};

/* Fills everything except the output descriptor; `cluster` has a report_folder. The texts live in
 * the arena (and in muster's own environment). The environment is muster's own, then muster's
 * variables about the cluster, the two marks, and the container's env; later ones override. $(NAME)
 * stands for a variable of the last three, as on Kubernetes, where no others exist. A command
 * `muster`, without a path, is this program (`muster server …`). `cluster->job` has the uid. The
 * container's env may override the variables that follow from `machine`. */
void local_start_describe(const struct tf_cluster *cluster, const struct role *role, int index,
			  int attempt, const struct local_machine *machine, struct arena *arena,
			  struct child_start *ret_start);

/* The attempt's mark as an entry of its environment: "MUSTER_ATTEMPT_ID=UID/ROLE-INDEX.ATTEMPT". */
char *local_start_mark(const char *uid, const char *role, int index, int attempt) MUST_USE;
/* Endings of files (job_attempt_file). An attempt may leave its error in the first, unless the user
 * chose another place: that of torch.distributed.elastic's `record`. */
#define LOCAL_ERROR_FILE ".error.json"
/* It is created when the attempt is asked to exit, for a script that cannot handle the signal: its
 * MUSTER_STOP_FILE. */
#define LOCAL_STOP_FILE ".stop"

/* The addresses of a job's cluster, and what each process is told about it: TF_CONFIG and its like.
 *
 * Sources: TFConfigClusterResolver
 * (tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py), torch.distributed's
 * env:// initialisation, jax.distributed.initialize, TF-Spawner (WORKER_NUMBER, TOT_WORKERS). */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "spec/environment.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

struct tf_cluster_address {
	const char *role; /* lower case, as in the job: "worker" */
	int index;
	const char *address; /* "127.0.0.1:20001" */
};

/* Where the workers of a job stand that is one machine's part of an elastic one. */
struct tf_cluster_world {
	const char *job_id; /* what its machines call the job */
	const char *role_name; /* torchrun's --role */
	int first_rank, size; /* processes before ours; of all machines */
	int group, n_groups; /* machines */
	int restarts; /* of the elastic job so far */
	int max_restarts; /* below 0: no limit */
};

struct tf_cluster {
	const struct job *job;
	/* NULL: the job is all that there is. Else it has workers alone, dense_cluster has the
	 * tasks of all machines, and `addresses` is not used. */
	const struct tf_cluster_world *world;
	const struct tf_cluster_address
		*addresses; /* one for each replica of the job, in any order */
	size_t n_addresses;
	const char *coordinator_host; /* where rank 0 meets the others: MASTER_ADDR,
					 JAX_COORDINATOR_ADDRESS */
	int coordinator_port;
	/* What tf_cluster_add_dense_cluster adds, made once by callers that describe many replicas;
	 * NULL: it is made for each. */
	const char *dense_cluster;
	const char *report_folder; /* where a process may leave its error as JSON, and the step that
				      it has reached; NULL: nowhere */
	/* Each replica is a machine of its own, as a Pod is: LOCAL_RANK, which picks a GPU of this
	 * machine, is 0 then. */
	bool has_own_machines;
};

/* Which dialect of TF_CONFIG. */
enum tf_config_style {
	TF_CONFIG_DENSE, /* here and elastic: master becomes chief, the evaluator stands outside,
			    valid for TF's resolver */
	TF_CONFIG_KUBEFLOW, /* byte for byte what training-operator v1.9 writes, its sparse form
			       included */
};

/* Appends the compact JSON for one replica. */
void tf_cluster_add_tf_config(const struct tf_cluster *cluster, enum tf_config_style style,
			      const char *role, int index, struct text *text);

/* Appends the part of a dense TF_CONFIG that all replicas have in common, the value of `cluster`.
 */
void tf_cluster_add_dense_cluster(const struct tf_cluster *cluster, struct text *text);

/* False where training-operator sets no TF_CONFIG at all: exactly one replica over the known roles.
 * TF_CONFIG_DENSE is always set. */
bool tf_cluster_has_kubeflow_tf_config(const struct job *job);

/* Appends the address of a replica on Kubernetes:
 * JOB-ROLE-INDEX[.SERVICE].NAMESPACE.svc[.DOMAIN]:PORT. `service` is the one that the job's Pods
 * have in common; NULL: each has one of its own name, as training-operator makes them. `domain` is
 * its CUSTOM_CLUSTER_DOMAIN; NULL or "" for none. */
void tf_cluster_add_kubeflow_address(const struct job *job, const struct role *role, int index,
				     const char *service, const char *domain, struct text *text);

/* Of which a user's own value counts on this machine (torchrun's does). */
#define NCCL_ERRORS_VARIABLE "TORCH_NCCL_ASYNC_ERROR_HANDLING"

/* Sets the variables that muster gives one replica, beside those of the job:
 *
 * - PYTHONUNBUFFERED and PYTHONFAULTHANDLER;
 * - TF_CONFIG (dense);
 * - of the world, which is chief (or master), then workers: RANK, WORLD_SIZE, MASTER_ADDR,
 *   MASTER_PORT, and JAX_COORDINATOR_ADDRESS, JAX_PROCESS_ID, JAX_NUM_PROCESSES (the first is read
 *   by jax.distributed.initialize, the others are what Kubeflow Trainer's JAX runtime sets);
 * - of torchrun, whose groups are machines: on one machine LOCAL_RANK and LOCAL_WORLD_SIZE are
 *   those of the world, GROUP_RANK 0, GROUP_WORLD_SIZE 1; on machines of their own it is the
 *   other way round. ROLE_* is the place in its role. TORCHELASTIC_RUN_ID is the job's name,
 *   _RESTART_COUNT the attempt, _MAX_RESTARTS the job's (-1: no limit), _USE_AGENT_STORE False,
 *   because rank 0 makes the store; _ERROR_FILE only where there is an report_folder.
 *   TORCH_NCCL_ASYNC_ERROR_HANDLING is 1;
 * - of a machine of an elastic job: the same as torchrun has them there, MUSTER_GENERATION (the
 *   attempt), MUSTER_RESTART_COUNT, and MUSTER_PROGRESS_FILE where there is a report_folder;
 * - of workers alone, as TF-Spawner had it: WORKER_NUMBER, TOT_WORKERS;
 * - MUSTER_JOB_NAME, MUSTER_ROLE, MUSTER_INDEX, MUSTER_ATTEMPT. */
/* Where such a process writes the step that it has reached; caller frees. */
char *tf_cluster_progress_file(const char *report_folder, const char *role, int index,
			       int attempt) MUST_USE;

void tf_cluster_add_environment(const struct tf_cluster *cluster, const char *role, int index,
				int attempt, struct environment *environment);

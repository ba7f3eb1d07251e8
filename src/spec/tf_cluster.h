/* The addresses of a job's cluster, and the variables that describe it to each process: TF_CONFIG
 * and similar ones.
 *
 * Sources: TFConfigClusterResolver
 * (tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py), torch.distributed's
 * env:// initialization, jax.distributed.initialize, TF-Spawner (WORKER_NUMBER, TOT_WORKERS). */
#pragma once

#include "base/text.h"
#include "spec/environment.h"
#include "spec/job.h"

struct tf_cluster_address {
	const char *role; /* lower case, as in the job: "worker" */
	int index;
	const char *address; /* "127.0.0.1:20001" */
};

/* The place of one process whose machine has others, which other agents start (Slurm's tasks). */
struct tf_cluster_machine {
	int local_rank, local_size; /* among the processes of its machine */
	int rank, n_machines;
};

/* The position of a job's workers, if the job is one machine's part of an elastic job. */
struct tf_cluster_world {
	const char *job_id; /* the id of the job on all machines */
	const char *role_name; /* torchrun's --role */
	int first_rank, size; /* number of processes before ours; of all machines */
	int first_role_rank, role_size; /* the same among the processes of our role */
	int group, n_groups; /* machines, or agents if a machine has several */
	const struct tf_cluster_machine
		*machine; /* NULL: its only agent has started all processes */
	int restarts; /* of the elastic job so far */
	int max_restarts; /* below 0: no limit */
	/* LOCAL_RANK is 0: each process sees only its GPU (torchrun's --virtual-local-rank). */
	bool has_virtual_local_rank;
	/* For gloo, if it would choose loopback by itself; NULL: it finds the right one. */
	const char *interface;
};

struct tf_cluster {
	const struct job *job;
	/* NULL: the job has all replicas. Else the job has only workers, dense_cluster has the
	 * tasks of all machines, and `addresses` is not used. */
	const struct tf_cluster_world *world;
	const struct tf_cluster_address
		*addresses; /* one for each replica of the job, in any order */
	size_t n_addresses;
	const char *coordinator_host; /* of rank 0: MASTER_ADDR, JAX_COORDINATOR_ADDRESS */
	int coordinator_port;
	/* The text of tf_cluster_add_dense_cluster, made once by callers that describe many
	 * replicas; NULL: it is made for each. */
	const char *dense_cluster;
	const char *report_folder; /* where a process may write its present step; NULL: none */
	/* Each replica is on its own machine, as a Pod is: then LOCAL_RANK, which selects a GPU of
	 * the machine, is 0. */
	bool has_own_machines;
};

/* The dialects of TF_CONFIG. */
enum tf_config_style {
	TF_CONFIG_DENSE, /* local and elastic jobs: master becomes chief, the evaluator is not in
			    the cluster, valid for TF's resolver */
	TF_CONFIG_KUBEFLOW, /* byte for byte as training-operator v1.9, also sparse */
};

/* Appends the compact JSON for one replica. */
void tf_cluster_add_tf_config(const struct tf_cluster *cluster, enum tf_config_style style,
			      const char *role, int index, struct text *text);

/* Appends the part of a dense TF_CONFIG that all replicas share, the value of `cluster`. */
void tf_cluster_add_dense_cluster(const struct tf_cluster *cluster, struct text *text);

/* False if training-operator sets no TF_CONFIG: exactly one replica over the known roles.
 * TF_CONFIG_DENSE is always set. */
bool tf_cluster_has_kubeflow_tf_config(const struct job *job);

/* Appends the address of a replica on Kubernetes:
 * JOB-ROLE-INDEX[.SERVICE].NAMESPACE.svc[.DOMAIN]:PORT. `service` is the common one of the job's
 * Pods; NULL: each has one with its own name, as training-operator creates them. `domain` is
 * training-operator's CUSTOM_CLUSTER_DOMAIN; NULL or "" for none. */
void tf_cluster_add_kubeflow_address(const struct job *job, const struct role *role, int index,
				     const char *service, const char *domain, struct text *text);
/* A cluster with the addresses of all replicas on Kubernetes, which are in the arena. */
struct tf_cluster tf_cluster_of_kubeflow(const struct job *job, const char *service,
					 const char *domain, struct arena *arena) MUST_USE;

/* Tells a process of a job from others. */
#define JOB_NAME_VARIABLE "MUSTER_JOB_NAME"

/* On this machine, a user's own value of this variable is kept (as by torchrun). */
#define NCCL_ERRORS_VARIABLE "TORCH_NCCL_ASYNC_ERROR_HANDLING"

/* The file into which a process of an elastic job writes its present step; caller frees. */
char *tf_cluster_progress_file(const char *report_folder, const char *role, int index,
			       int attempt) MUST_USE;

/* Sets the variables that muster gives one replica, in addition to those of the job:
 *
 * - PYTHONUNBUFFERED and PYTHONFAULTHANDLER;
 * - TF_CONFIG (dense);
 * - for the world, which is chief (or master), then workers: RANK, WORLD_SIZE, MASTER_ADDR,
 *   MASTER_PORT, and JAX_COORDINATOR_ADDRESS, JAX_PROCESS_ID, JAX_NUM_PROCESSES (the first is read
 *   by jax.distributed.initialize, the others are what Kubeflow Trainer's JAX runtime sets);
 * - torchrun's, whose groups are machines: on one machine LOCAL_RANK and LOCAL_WORLD_SIZE are
 *   those of the world, GROUP_RANK 0, GROUP_WORLD_SIZE 1; with one machine for each replica it is
 *   the other way round. ROLE_* is the position in its role. TORCHELASTIC_RUN_ID is the job's name,
 *   _RESTART_COUNT the attempt, _MAX_RESTARTS the job's (-1: no limit), _USE_AGENT_STORE False,
 *   because rank 0 creates the store. TORCH_NCCL_ASYNC_ERROR_HANDLING is 1;
 * - for a machine of an elastic job: the values of torchrun in such a job, MUSTER_GENERATION (the
 *   attempt), MUSTER_RESTART_COUNT, and MUSTER_PROGRESS_FILE with a report_folder;
 * - for workers only, as in TF-Spawner: WORKER_NUMBER, TOT_WORKERS;
 * - MUSTER_JOB_NAME, MUSTER_ROLE, MUSTER_INDEX, MUSTER_ATTEMPT. */
void tf_cluster_add_environment(const struct tf_cluster *cluster, const char *role, int index,
				int attempt, struct environment *environment);

/* Who is where in a job's cluster, and what each process is told about it: TF_CONFIG and its like.
 *
 * Sources: TFConfigClusterResolver
 * (tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py), torch.distributed's
 * env:// initialisation, jax.distributed.initialize, TF-Spawner (WORKER_NUMBER, TOT_WORKERS). */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "core/job.h"

#include <stddef.h>

struct cluster_address {
	const char *role; /* lower case, as in the job: "worker" */
	int index;
	const char *address; /* "127.0.0.1:20001" */
};

struct cluster {
	const struct job *job;
	const struct cluster_address *addresses; /* one for each replica of the job, in any order */
	size_t n_addresses;
	const char *coordinator_host; /* where rank 0 meets the others: MASTER_ADDR,
					 JAX_COORDINATOR_ADDRESS */
	int coordinator_port;
};

/* Which dialect of TF_CONFIG. */
enum tf_config_style {
	TF_CONFIG_DENSE, /* here and elastic: master becomes chief, the evaluator stands outside,
			    valid for TF's resolver */
	TF_CONFIG_KUBEFLOW, /* byte for byte what training-operator v1.9 writes, its sparse form
			       included */
};

/* Appends the compact JSON for one replica. */
void cluster_add_tf_config(const struct cluster *cluster, enum tf_config_style style,
			   const char *role, int index, struct text *text);

/* The variables that muster gives one replica, beside those of the job: TF_CONFIG, RANK,
 * WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT, JAX_*, WORKER_NUMBER, TOT_WORKERS, MUSTER_*. */
struct environment {
	char **entries; /* "NAME=VALUE"; later ones win over earlier ones of the same name */
	size_t count;
	size_t capacity;
};
void environment_done(struct environment *environment);
/* Sets or replaces. */
void environment_set(struct environment *environment, const char *name, const char *value);
const char *environment_get(const struct environment *environment, const char *name);

void cluster_add_environment(const struct cluster *cluster, const char *role, int index,
			     int attempt, struct environment *environment);

/* Kubernetes' $(NAME) expansion (k8s.io/kubernetes/third_party/forked/golang/expansion): $$ is a
 * dollar, an unknown name stays as it is written. Caller frees. */
char *environment_expand(const struct environment *environment, const char *text) MUST_USE;
/* A container's env in its order: each value expanded with what stands before it, then set. */
void environment_add_container(struct environment *environment, const struct container *container);

/* A cluster spec: the jobs of a TensorFlow cluster, the addresses of their tasks, and which task is
 * ours. Read from the old command line's grammar or from TF_CONFIG.
 *
 *     SPEC = JOB(,JOB)*    JOB = NAME|HOST:PORT(;HOST:PORT)*    NAME = [a-z][0-9a-z]*
 *
 * Sources: the grammar of TensorFlow's grpc_tensorflow_server
 * (tensorflow/core/distributed_runtime/rpc/grpc_tensorflow_server.cc); for TF_CONFIG,
 * TFConfigClusterResolver and tf.train.ClusterSpec, which accept a list of addresses or a sparse
 * map of index to address (tensorflow/python/training/server_lib.py). */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/job.h"

struct spec_task {
	const char *job; /* its name */
	int index;
	const char *address; /* HOST:PORT; an IPv6 host is in brackets */
	/* For faults: its place in the text, and "cluster.worker[1]"; "" in the grammar. */
	struct place place;
	const char *path;
};

struct spec_job {
	const char *name;
	struct spec_task *tasks; /* by index, which may have gaps (sparse TF_CONFIG); never none */
	size_t n_tasks;
};

/* All parts live as long as it does. */
struct cluster_spec {
	struct spec_job *jobs; /* in the order of the text; never none */
	size_t n_jobs;
	struct spec_task *tasks; /* of all jobs, in that order */
	size_t n_tasks;
	const struct spec_task *own; /* NULL while our task is unknown */
	struct arena *arena;
};

/* Reads the grammar above. Collects all faults, each with its column (line 1, columns of characters
 * from 1) and what was expected there; ERR_INVALID when there is one. Two jobs of one name and two
 * tasks of one address are faults too. */
int cluster_spec_read(const char *text, struct faults *faults,
		      struct cluster_spec **ret_spec) MUST_USE;

/* Reads the cluster and the task from a TF_CONFIG document. Faults name the field
 * ("cluster.worker[1]"). A task that the cluster does not have, like the evaluator, is accepted. */
int cluster_spec_read_tf_config(const char *text, struct faults *faults,
				struct cluster_spec **ret_spec) MUST_USE;

void cluster_spec_cleanup(struct cluster_spec **spec); /* NULL is fine */

/* Sets our task. ERR_NOT_FOUND lists the jobs, or indices, that the cluster has. */
int cluster_spec_set_own(struct cluster_spec *spec, const char *job_name, int index,
			 struct err *err) MUST_USE;

/* NULL: the cluster has none. */
const struct spec_job *cluster_spec_job(const struct cluster_spec *spec, const char *name);
const struct spec_task *cluster_spec_task(const struct cluster_spec *spec, const char *job_name,
					  int index);
/* The fault of a task's address, as a sentence, and the byte *ret_offset of it; NULL: none. */
const char *address_fault(const char *address, size_t *ret_offset);

/* The host (without brackets) and the port of a valid address; the caller frees the host. */
char *address_host(const char *address) MUST_USE;
int address_port(const char *address);

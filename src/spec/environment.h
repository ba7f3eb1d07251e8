/* The environment of one process: a set of "NAME=VALUE", and Kubernetes' $(NAME) expansion. */
#pragma once

#include "base/text.h"
#include "spec/job.h"

/* Zero it to begin. Each name occurs once; `entries` ends with NULL once a variable was added, so
 * that it can be passed to exec. */
struct environment {
	char **entries; /* "NAME=VALUE" */
	size_t count;
	size_t capacity;
};

void environment_done(struct environment *environment);
/* Sets or replaces a variable. */
void environment_set(struct environment *environment, const char *name, const char *value);

/* Kubernetes' $(NAME) expansion (k8s.io/kubernetes/third_party/forked/golang/expansion): $$ is a
 * dollar, an unknown name stays unchanged. `environment` contains the variables of a Pod's
 * container: the job's own and not inherited ones, so that a file has the same meaning on this
 * machine and on a cluster. Caller frees. */
char *environment_expand(const struct environment *environment, const char *text) MUST_USE;
/* Adds a text that the expansion returns unchanged: each `$` of an expression is doubled. */
void environment_add_literal(struct text *text, const char *string);
/* Adds a container's env in its order: each value is expanded with the variables before it. */
void environment_add_container(struct environment *environment, const struct container *container);

/* The number of threads of a process. A numerical library starts a thread for each core of the
 * machine, in each process: four workers on two cores have eight, which wait for each other most of
 * the time. MKL, OpenBLAS and PyTorch too read the variable of OpenMP (5.2, section 21.2); torchrun
 * sets it to 1. */
#define THREADS_VARIABLE "OMP_NUM_THREADS"
#define THREADS_MAX 1024 /* whatever a file requests */

/* From 1 to THREADS_MAX: the replica's own `processors`, or if that is 0, its equal share of the
 * usable `cores`. 0, no limit: libraries of an only replica choose, as under torchrun. */
int threads_of_replica(double processors, double cores, int n_replicas);

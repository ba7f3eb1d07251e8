/* A cluster spec under way: what its two readers, of the grammar and of TF_CONFIG, have found so
 * far, and the faults that both look for. */
#pragma once

#include "base/own.h"
#include "base/place.h"
#include "spec/cluster_spec.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

/* One task, and where it was found. */
struct found_task {
	size_t job; /* index in the list of jobs */
	int index;
	const char *address;
	struct place place;
	const char *path; /* "cluster.worker[1]"; "" in the grammar */
};

/* Texts given to it live in the arena. */
struct cluster_build {
	struct arena *arena;
	struct faults *faults;
	const char **jobs;
	size_t n_jobs, jobs_capacity;
	struct found_task *tasks;
	size_t n_tasks, tasks_capacity;
	bool is_full; /* a limit was reached, and told; what follows is not kept */
};

/* `faults` is empty to begin. */
void cluster_build_init(struct cluster_build *build, struct faults *faults);
void cluster_build_done(struct cluster_build *build);

/* Begins a job, to which the tasks that follow belong. A second one of that name is a fault. */
void cluster_build_add_job(struct cluster_build *build, const char *name, struct place place,
			   const char *path);
/* A task of the job started last. An address that is none is a fault, at its place in it. */
void cluster_build_add_task(struct cluster_build *build, int index, const char *address,
			    struct place place, const char *path);

/* How many bytes of a name or an address a sentence shows, for "%.*s": whole characters, and few
 * enough that there is room for what is wrong with it. */
int cluster_shown_length(const char *bytes, size_t len);

/* Makes the spec, which takes the arena along. ERR_INVALID when there was any fault, two tasks at
 * one address among them; the faults are sorted by their places then. */
int cluster_build_end(struct cluster_build *build, struct cluster_spec **ret_spec) MUST_USE;

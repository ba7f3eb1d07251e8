/* Builds a cluster spec for its two readers, of the grammar and of TF_CONFIG: the tasks found so
 * far, and the faults that both check for. */
#pragma once

#include "base/own.h"
#include "base/place.h"
#include "spec/cluster_spec.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

/* One task, and its place in the text. */
struct found_task {
	size_t job; /* index in the list of jobs */
	int index;
	const char *address;
	struct place place;
	const char *path; /* "cluster.worker[1]"; "" in the grammar */
};

/* Texts passed to it live in the arena. */
struct cluster_build {
	struct arena *arena;
	struct faults *faults;
	const char **jobs;
	size_t n_jobs, jobs_capacity;
	struct found_task *tasks;
	size_t n_tasks, tasks_capacity;
	bool is_full; /* a limit was reached, and reported; what follows is dropped */
};

/* `faults` must be empty. */
void cluster_build_init(struct cluster_build *build, struct faults *faults);
void cluster_build_done(struct cluster_build *build);

/* Starts a job, to which the following tasks belong. A second one of that name is a fault. */
void cluster_build_add_job(struct cluster_build *build, const char *name, struct place place,
			   const char *path);
/* Adds a task to the job started last. An invalid address is a fault, at its place in the
 * address. */
void cluster_build_add_task(struct cluster_build *build, int index, const char *address,
			    struct place place, const char *path);

/* The number of bytes of a name or an address that a sentence shows, for "%.*s": whole characters,
 * and few enough to leave room for the fault. */
int cluster_shown_length(const char *bytes, size_t len);

/* Makes the spec, which takes over the arena. ERR_INVALID when there was any fault, also two tasks
 * at one address; then the faults are sorted by their places. */
int cluster_build_end(struct cluster_build *build, struct cluster_spec **ret_spec) MUST_USE;

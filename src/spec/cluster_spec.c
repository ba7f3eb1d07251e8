/* Finds tasks in a cluster spec. spec/cluster_grammar.c and spec/cluster_config.c read it. */
#include "spec/cluster_spec.h"

#include "base/mem.h"

#include <stdlib.h>

void cluster_spec_free(struct cluster_spec *spec)
{
	if (!spec)
		return;
	arena_free(spec->arena);
	free(spec);
}

void cluster_spec_cleanup(struct cluster_spec **spec)
{
	cluster_spec_free(*spec);
}

static const struct spec_job *find_spec_job(const struct cluster_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_jobs; i++)
		if (text_equals(spec->jobs[i].name, name))
			return &spec->jobs[i];
	return NULL;
}

const struct spec_task *cluster_spec_task(const struct cluster_spec *spec, const char *job_name,
					  int index)
{
	const struct spec_job *job = find_spec_job(spec, job_name);

	for (size_t i = 0; job && i < job->n_tasks; i++)
		if (job->tasks[i].index == index)
			return &job->tasks[i];
	return NULL;
}

static int complain_of_job(const struct cluster_spec *spec, const char *name, struct err *err)
{
	struct text names CLEANUP(text_done) = {0};

	for (size_t i = 0; i < spec->n_jobs; i++)
		text_addf(&names, "%s%s", i == 0 ? "" : ", ", spec->jobs[i].name);
	return err_set(err, ERR_NOT_FOUND, "the cluster has no job '%s'; it has %s", name,
		       text_of(&names));
}

/* Only in a sparse TF_CONFIG do the indices have gaps. */
static int complain_of_index(const struct spec_job *job, int index, struct err *err)
{
	struct text indices CLEANUP(text_done) = {0};
	int last = job->tasks[job->n_tasks - 1].index;

	if (job->n_tasks == 1)
		text_addf(&indices, "only task %d", last);
	else if ((size_t) last == job->n_tasks - 1)
		text_addf(&indices, "tasks 0 to %d", last);
	else
		for (size_t i = 0; i < job->n_tasks; i++)
			text_addf(&indices, "%s %d", i == 0 ? "tasks" : ",", job->tasks[i].index);
	return err_set(err, ERR_NOT_FOUND, "job '%s' has no task %d; it has %s", job->name, index,
		       text_of(&indices));
}

int cluster_spec_set_own(struct cluster_spec *spec, const char *job_name, int index,
			 struct err *err)
{
	const struct spec_job *job = find_spec_job(spec, job_name);

	if (!job)
		return complain_of_job(spec, job_name, err);
	if (!cluster_spec_task(spec, job_name, index))
		return complain_of_index(job, index, err);
	spec->own_job = job->name;
	spec->own_index = index;
	return 0;
}

const char *cluster_spec_own_address(const struct cluster_spec *spec)
{
	return spec->own_job ? cluster_spec_task(spec, spec->own_job, spec->own_index)->address
			     : NULL;
}

size_t cluster_spec_count(const struct cluster_spec *spec)
{
	size_t count = 0;

	for (size_t i = 0; i < spec->n_jobs; i++)
		count += spec->jobs[i].n_tasks;
	return count;
}

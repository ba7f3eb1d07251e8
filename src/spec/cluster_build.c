#include "spec/cluster_build.h"

#include "base/mem.h"
#include "base/names.h"
#include "spec/cluster_address.h"
#include "spec/limits.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 100

void cluster_build_init(struct cluster_build *build, struct faults *faults)
{
	*build = (struct cluster_build){.arena = arena_new(), .faults = faults};
}

void cluster_build_done(struct cluster_build *build)
{
	arena_free(build->arena);
	free(build->jobs);
	free(build->tasks);
}

int cluster_shown_length(const char *bytes, size_t len)
{
	if (len <= SHOWN_MAX)
		return (int) len;
	len = SHOWN_MAX;
	while (len > 0 && ((unsigned char) bytes[len] & 0xc0) == 0x80)
		len--;
	return (int) len;
}

static int shown(const char *text)
{
	return cluster_shown_length(text, strlen(text));
}

static void add_limit_fault(struct cluster_build *build, struct place place, const char *path,
			    size_t limit, const char *things)
{
	build->is_full = true;
	fault_add(build->faults, place, path, "more than %zu %s", limit, things);
}

void cluster_build_add_job(struct cluster_build *build, const char *name, struct place place,
			   const char *path)
{
	if (build->is_full)
		return;
	if (build->n_jobs == LIMIT_CLUSTER_JOBS) {
		add_limit_fault(build, place, path, LIMIT_CLUSTER_JOBS, "jobs");
		return;
	}
	if (name[0] && name_find_word(build->jobs, build->n_jobs, name) >= 0)
		fault_add(build->faults, place, path,
			  "job '%.*s' is listed twice; put all its tasks into one list",
			  shown(name), name);
	mem_grow(&build->jobs, &build->jobs_capacity, build->n_jobs, sizeof(*build->jobs));
	build->jobs[build->n_jobs++] = name;
}

static struct place place_in(struct place place, size_t offset)
{
	if (place.line > 0)
		place.column += (int) offset;
	return place;
}

void cluster_build_add_task(struct cluster_build *build, int index, const char *address,
			    struct place place, const char *path)
{
	if (build->is_full)
		return;
	if (build->n_tasks == LIMIT_REPLICAS) {
		add_limit_fault(build, place, path, LIMIT_REPLICAS, "tasks");
		return;
	}
	size_t offset = 0;
	const char *fault = address_fault(address, &offset);

	if (fault)
		fault_add(build->faults, place_in(place, offset), path, "'%.*s': %s",
			  shown(address), address, fault);
	mem_grow(&build->tasks, &build->tasks_capacity, build->n_tasks, sizeof(*build->tasks));
	build->tasks[build->n_tasks++] = (struct found_task){
		.job = build->n_jobs - 1,
		.index = index,
		.address = address,
		.place = place,
		.path = path,
	};
}

/* By address; those of one address in the order of the text. */
static int compare_addresses(const void *a, const void *b)
{
	const struct found_task *one = *(const struct found_task *const *) a;
	const struct found_task *other = *(const struct found_task *const *) b;
	int order = strcmp(one->address, other->address);

	return order != 0 ? order : (one > other) - (one < other);
}

static void add_shared_address_fault(struct cluster_build *build, const struct found_task *first,
				     const struct found_task *task)
{
	fault_add(build->faults, task->place, task->path,
		  "'%.*s' is already the address of %.*s-%d", shown(task->address), task->address,
		  shown(build->jobs[first->job]), build->jobs[first->job], first->index);
}

/* Two servers cannot listen on one address. */
static void check_addresses(struct cluster_build *build)
{
	const struct found_task **sorted CLEANUP(mem_free_any) =
		mem_new_array(build->n_tasks + 1, sizeof(*sorted));
	size_t first = 0;

	for (size_t i = 0; i < build->n_tasks; i++)
		sorted[i] = &build->tasks[i];
	qsort(sorted, build->n_tasks, sizeof(*sorted), compare_addresses);
	for (size_t i = 1; i < build->n_tasks; i++)
		if (!text_equals(sorted[i]->address, sorted[first]->address))
			first = i;
		else if (sorted[i]->address[0])
			add_shared_address_fault(build, sorted[first], sorted[i]);
}

static int compare_indices(const void *a, const void *b)
{
	const struct spec_task *one = a, *other = b;

	return (one->index > other->index) - (one->index < other->index);
}

/* The tasks of a job are adjacent; a map may have them in any order. */
static void fill_jobs(const struct cluster_build *build, struct cluster_spec *spec)
{
	struct spec_task *tasks = arena_take_array(spec->arena, build->n_tasks + 1, sizeof(*tasks));

	for (size_t i = 0; i < build->n_jobs; i++)
		spec->jobs[i].name = build->jobs[i];
	for (size_t i = 0; i < build->n_tasks; i++) {
		struct spec_job *job = &spec->jobs[build->tasks[i].job];

		if (job->n_tasks++ == 0)
			job->tasks = &tasks[i];
		tasks[i].index = build->tasks[i].index;
		tasks[i].address = build->tasks[i].address;
	}
	for (size_t i = 0; i < build->n_jobs; i++)
		if (spec->jobs[i].n_tasks > 1)
			qsort(spec->jobs[i].tasks, spec->jobs[i].n_tasks, sizeof(*tasks),
			      compare_indices);
}

int cluster_build_end(struct cluster_build *build, struct cluster_spec **ret_spec)
{
	check_addresses(build);
	if (build->faults->count > 0) {
		faults_sort(build->faults, 0);
		return ERR_INVALID;
	}
	struct cluster_spec *spec = mem_new(sizeof(*spec));

	spec->arena = TAKE(build->arena);
	spec->n_jobs = build->n_jobs;
	spec->jobs = arena_take_array(spec->arena, build->n_jobs, sizeof(*spec->jobs));
	fill_jobs(build, spec);
	*ret_spec = spec;
	return 0;
}

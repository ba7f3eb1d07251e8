/* Reads a cluster spec from the old command line's grammar or from a TF_CONFIG: what both readers
 * find goes through the first part, which checks it. */
#include "spec/cluster_spec.h"

#include "base/json.h"
#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "spec/limits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 100
#define NOWHERE ((struct place){0})

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

static void cluster_build_done(struct cluster_build *build)
{
	arena_free(build->arena);
	free(build->jobs);
	free(build->tasks);
}

/* The number of bytes of a name or an address that a sentence shows, for "%.*s": whole characters,
 * and few enough to leave room for the fault. */
static int shown_length(const char *bytes, size_t len)
{
	return (int) (len <= SHOWN_MAX ? len : line_text_whole_characters(bytes, SHOWN_MAX));
}

static int shown(const char *text)
{
	return shown_length(text, strlen(text));
}

static void add_limit_fault(struct cluster_build *build, struct place place, const char *path,
			    size_t limit, const char *things)
{
	build->is_full = true;
	fault_add(build->faults, place, path, "more than %zu %s", limit, things);
}

/* Starts a job, to which the following tasks belong. A second one of that name is a fault. */
static void add_job(struct cluster_build *build, const char *name, struct place place,
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

/* Adds a task to the job started last. An invalid address is a fault, at its place in the
 * address. */
static void add_task(struct cluster_build *build, int index, const char *address,
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

	if (fault) {
		struct place at = {place.line, place.column + (place.line > 0 ? (int) offset : 0)};

		fault_add(build->faults, at, path, "'%.*s': %s", shown(address), address, fault);
	}
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

/* Two servers cannot listen on one address. */
static void check_addresses(struct cluster_build *build)
{
	const struct found_task **sorted CLEANUP(mem_free_any) =
		mem_new_array(build->n_tasks + 1, sizeof(*sorted));
	size_t first = 0;

	for (size_t i = 0; i < build->n_tasks; i++)
		sorted[i] = &build->tasks[i];
	qsort(sorted, build->n_tasks, sizeof(*sorted), compare_addresses);
	for (size_t i = 1; i < build->n_tasks; i++) {
		const struct found_task *task = sorted[i];
		const char *job = build->jobs[sorted[first]->job];

		if (!text_equals(task->address, sorted[first]->address))
			first = i;
		else if (task->address[0])
			fault_add(build->faults, task->place, task->path,
				  "'%.*s' is already the address of %.*s-%d", shown(task->address),
				  task->address, shown(job), job, sorted[first]->index);
	}
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

/* Makes the spec, which takes over the arena. ERR_INVALID when there was any fault, also two tasks
 * at one address; then the faults are sorted by their places. */
static int end_build(struct cluster_build *build, struct cluster_spec **ret_spec)
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

/* The grammar of cluster specs: NAME|HOST:PORT(;HOST:PORT)*, and ',' between jobs. */

/* A part of the spec: `len` bytes, starting at character number `column`. */
struct part {
	const char *bytes;
	size_t len;
	int column;
};

static struct part part_of(struct part whole, size_t begin, size_t end)
{
	return (struct part){
		.bytes = whole.bytes + begin,
		.len = end - begin,
		.column = whole.column + (int) text_count_characters(whole.bytes, begin),
	};
}

/* Cuts off the text before the next `separator`, and the separator. False after the last piece; an
 * empty text is one empty piece. */
static bool next_piece(struct part *rest, char separator, struct part *ret_piece)
{
	if (!rest->bytes)
		return false;
	const char *found = memchr(rest->bytes, separator, rest->len);
	size_t len = found ? (size_t) (found - rest->bytes) : rest->len;

	*ret_piece = part_of(*rest, 0, len);
	*rest = found ? part_of(*rest, len + 1, rest->len) : (struct part){0};
	return true;
}

static struct place part_place_of(struct part part, size_t offset)
{
	return (struct place){.line = 1, .column = part_of(part, offset, part.len).column};
}

static char *copy_part(const struct cluster_build *build, struct part part)
{
	return arena_format(build->arena, "%.*s", (int) part.len, part.bytes);
}

static void check_spec_job_name(struct cluster_build *build, struct part part)
{
	size_t n_letters = strspn(part.bytes, NAME_LOWER);
	size_t n_valid = n_letters ? strspn(part.bytes, NAME_LOWER NAME_DIGITS) : 0;

	if (part.len == 0)
		fault_add(build->faults, part_place_of(part, 0), "", "missing job name before '|'");
	else if (n_valid < part.len)
		fault_add(build->faults, part_place_of(part, n_valid), "",
			  "job name '%.*s': expected a letter from a to z, then such letters and "
			  "digits",
			  shown_length(part.bytes, part.len), part.bytes);
}

static void read_tasks(struct cluster_build *build, struct part name, struct part rest)
{
	struct part piece;

	for (int index = 0; next_piece(&rest, ';', &piece); index++)
		if (piece.len == 0)
			fault_add(build->faults, part_place_of(piece, 0), "",
				  "task %d of job '%.*s' is empty: expected HOST:PORT", index,
				  shown_length(name.bytes, name.len), name.bytes);
		else
			add_task(build, index, copy_part(build, piece), part_place_of(piece, 0),
				 "");
}

static void add_missing_bar_fault(struct cluster_build *build, struct part part)
{
	if (part.len == 0)
		fault_add(build->faults, part_place_of(part, 0), "",
			  "an empty job: expected NAME|HOST:PORT(;HOST:PORT)*");
	else
		fault_add(build->faults, part_place_of(part, part.len), "",
			  "job '%.*s' has no '|': expected NAME|HOST:PORT(;HOST:PORT)*",
			  shown_length(part.bytes, part.len), part.bytes);
}

/* NAME|HOST:PORT(;HOST:PORT)* */
static void parse_cluster_job(struct cluster_build *build, struct part part)
{
	struct part rest = part, name, tasks;

	if (!next_piece(&rest, '|', &name) || !next_piece(&rest, '|', &tasks)) {
		add_missing_bar_fault(build, part);
		return;
	}
	check_spec_job_name(build, name);
	add_job(build, copy_part(build, name), part_place_of(name, 0), "");
	if (build->is_full)
		return;
	read_tasks(build, name, tasks);
	if (rest.bytes)
		fault_add(build->faults, part_place_of(tasks, tasks.len), "",
			  "a second '|' in job '%.*s': jobs are separated by ',', tasks by ';'",
			  shown_length(name.bytes, name.len), name.bytes);
}

static bool is_readable(size_t len, struct faults *faults)
{
	const struct place begin = {.line = 1, .column = 1};

	if (len > LIMIT_CLUSTER_SPEC)
		fault_add(faults, begin, "", "longer than %d bytes", LIMIT_CLUSTER_SPEC);
	else if (len == 0)
		fault_add(faults, begin, "",
			  "empty: expected NAME|HOST:PORT(;HOST:PORT)*, and ',' between jobs");
	else
		return true;
	return false;
}

int cluster_spec_read(const char *text, struct faults *faults, struct cluster_spec **ret_spec)
{
	struct cluster_build build CLEANUP(cluster_build_done) = {arena_new(), faults};
	struct part rest = {.bytes = text, .len = strlen(text), .column = 1}, piece;

	if (!is_readable(rest.len, faults))
		return ERR_INVALID;
	while (!build.is_full && next_piece(&rest, ',', &piece))
		parse_cluster_job(&build, piece);
	return end_build(&build, ret_spec);
}

/* Reads the cluster and the task from a TF_CONFIG document, as TFConfigClusterResolver and
 * tf.train.ClusterSpec do: a list of addresses for each job, or a sparse map of index to address; a
 * job that is null or empty has no tasks. Other members are ignored. */

/* As in TensorFlow's device names (DeviceNameUtils::IsJobName). */
static bool is_job_name(const char *name)
{
	return strspn(name, NAME_LETTERS) > 0 && !name[strspn(name, NAME_LETTERS NAME_DIGITS "_")];
}

static void read_address(struct cluster_build *build, int index, const struct json *value,
			 const char *path)
{
	const char *address = json_as_string(value, NULL);

	if (address)
		add_task(build, index, arena_copy_text(build->arena, address), NOWHERE, path);
	else
		fault_add(build->faults, NOWHERE, path, "expected an address, HOST:PORT");
}

static void read_address_list(struct cluster_build *build, const struct json *list,
			      const char *path)
{
	for (size_t i = 0; i < json_count(list) && !build->is_full; i++)
		read_address(build, (int) i, json_at(list, i),
			     arena_format(build->arena, "%s[%zu]", path, i));
}

/* TensorFlow calls int(key); two spellings of one number would be two tasks of one index. */
static bool is_plain_index(const char *key, int64_t *ret_index)
{
	return isdigit((unsigned char) key[0]) && (key[0] != '0' || !key[1]) &&
	       !text_read_int(key, 0, LIMIT_TASK_INDEX, ret_index, NULL);
}

static void read_map(struct cluster_build *build, const struct json *map, const char *path)
{
	const char *key = NULL;
	struct json *value;
	int64_t index;

	while (!build->is_full && json_next(map, &key, &value)) {
		const char *task_path = arena_format(build->arena, "%s.%s", path, key);

		if (is_plain_index(key, &index))
			read_address(build, (int) index, value, task_path);
		else
			fault_add(build->faults, NOWHERE, task_path,
				  "the key of a task must be its index, 0 to %d", LIMIT_TASK_INDEX);
	}
}

static void read_config_job(struct cluster_build *build, const char *name, const struct json *tasks)
{
	const char *path = arena_format(build->arena, "cluster.%s", name);
	bool is_list = json_is(tasks, JSON_ARRAY), is_map = json_is(tasks, JSON_OBJECT);

	if (!is_job_name(name))
		fault_add(build->faults, NOWHERE, path,
			  "a job name must be a letter, then letters, digits and '_'");
	if (!is_list && !is_map && !json_is(tasks, JSON_NULL))
		fault_add(build->faults, NOWHERE, path,
			  "expected a list of addresses, or a map of index to address");
	if (json_count(tasks) == 0)
		return;
	add_job(build, arena_copy_text(build->arena, name), NOWHERE, path);
	if (is_list)
		read_address_list(build, tasks, path);
	else
		read_map(build, tasks, path);
}

static void read_cluster(struct cluster_build *build, const struct json *cluster)
{
	const char *name = NULL;
	struct json *tasks;

	if (json_count(cluster) == 0 || !json_is(cluster, JSON_OBJECT)) {
		fault_add(build->faults, NOWHERE, "cluster",
			  "expected an object with a list of addresses for each job");
		return;
	}
	while (!build->is_full && json_next(cluster, &name, &tasks))
		read_config_job(build, name, tasks);
	if (build->n_jobs == 0 && build->faults->count == 0)
		fault_add(build->faults, NOWHERE, "cluster", "no job has a task");
}

/* A number, or its digits as a text, which TensorFlow's int() also accepts. */
static bool read_index(const struct json *value, int64_t *ret_index)
{
	if (json_is(value, JSON_STRING))
		return is_plain_index(json_as_string(value, ""), ret_index);
	*ret_index = json_as_integer(value, -1);
	return *ret_index >= 0 && *ret_index <= LIMIT_TASK_INDEX;
}

static void read_task(const struct json *task, struct cluster_spec *spec, struct faults *faults)
{
	const char *type = json_get_string(task, "type", NULL);
	struct err err;
	int64_t index;

	if (!type)
		fault_add(faults, NOWHERE, "task.type", "expected the name of a job");
	else if (!read_index(json_get(task, "index"), &index))
		fault_add(faults, NOWHERE, "task.index", "expected a number from 0 to %d",
			  LIMIT_TASK_INDEX);
	else if (cluster_spec_set_own(spec, type, (int) index, &err))
		fault_add(faults, NOWHERE, "task", "%s%s", err.text,
			  text_equals(type, "evaluator")
				  ? "; the evaluator is not part of the cluster and needs no server"
				  : "");
}

static int read_tf_config_document(const struct json *root, struct faults *faults,
				   struct cluster_spec **ret_spec)
{
	struct cluster_build build CLEANUP(cluster_build_done) = {arena_new(), faults};
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = NULL;

	read_cluster(&build, json_get(root, "cluster"));
	if (end_build(&build, &spec))
		return ERR_INVALID;
	read_task(json_get(root, "task"), spec, faults);
	if (faults->count > 0)
		return ERR_INVALID;
	*ret_spec = TAKE(spec);
	return 0;
}

int cluster_spec_read_tf_config(const char *text, struct faults *faults,
				struct cluster_spec **ret_spec)
{
	struct json *root CLEANUP(json_cleanup) = NULL;
	struct err err = {0};
	size_t len = strlen(text);

	if (len > LIMIT_CLUSTER_SPEC) {
		fault_add(faults, NOWHERE, "", "longer than %d bytes", LIMIT_CLUSTER_SPEC);
		return ERR_INVALID;
	}
	if (json_read(text, len, &root, &err)) {
		fault_add(faults, NOWHERE, "", "not JSON: %s", err.text);
		return ERR_INVALID;
	}
	return read_tf_config_document(root, faults, ret_spec);
}

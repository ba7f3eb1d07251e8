#include "spec/cluster_spec.h"

#include "base/line_text.h"
#include "base/names.h"
#include "spec/limits.h"

#include <ctype.h>

void cluster_spec_cleanup(struct cluster_spec **spec)
{
	if (*spec)
		arena_free((*spec)->arena);
	free(*spec);
}

const struct spec_job *cluster_spec_job(const struct cluster_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_jobs; i++)
		if (text_equals(spec->jobs[i].name, name))
			return &spec->jobs[i];
	return NULL;
}

const struct spec_task *cluster_spec_task(const struct cluster_spec *spec, const char *job_name,
					  int index)
{
	const struct spec_job *job = cluster_spec_job(spec, job_name);

	for (size_t i = 0; job && i < job->n_tasks; i++)
		if (job->tasks[i].index == index)
			return &job->tasks[i];
	return NULL;
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
	const struct spec_job *job = cluster_spec_job(spec, job_name);
	struct text names CLEANUP(text_done) = {0};

	spec->own = cluster_spec_task(spec, job_name, index);
	if (spec->own)
		return 0;
	if (job)
		return complain_of_index(job, index, err);
	for (size_t i = 0; i < spec->n_jobs; i++)
		text_addf(&names, "%s%s", i == 0 ? "" : ", ", spec->jobs[i].name);
	return err_set(err, ERR_NOT_FOUND, "the cluster has no job '%s'; it has %s", job_name,
		       text_of(&names));
}

/* Addresses. */

/* The length of the host at the start, with brackets: in them an IPv6 address, which may have an
 * IPv4 address at its end, and a zone (RFC 6874) after '%'. */
static size_t host_length(const char *address)
{
	if (address[0] != '[')
		return strspn(address, NAME_LETTERS NAME_DIGITS "-._");
	size_t len = 1 + strspn(address + 1, NAME_LETTERS NAME_DIGITS ":.%-_");

	return len + (address[len] == ']');
}

static const char *host_fault(const char *address, size_t len)
{
	bool is_bracketed = address[0] == '[';

	if (text_starts_with(address, "grpc://"))
		return "expected HOST:PORT without 'grpc://'";
	if (is_bracketed && (len < 2 || address[len - 1] != ']'))
		return address[len] ? "unexpected character in an IPv6 address"
				    : "missing ']' after the IPv6 address";
	if (is_bracketed && !memchr(address, ':', len))
		return "expected an IPv6 address between '[' and ']'";
	if (text_starts_with(address, "::"))
		return "an IPv6 address needs brackets, as in [::1]:2222";
	if (len == 0 && (address[0] == ':' || !address[0]))
		return "missing host (expected HOST:PORT)";
	if (!address[len])
		return "missing port (expected HOST:PORT)";
	if (address[len] != ':')
		return "unexpected character in an address (expected HOST:PORT)";
	return NULL;
}

static const char *port_fault(const char *port, size_t *ret_offset)
{
	size_t n_digits = strspn(port, NAME_DIGITS);
	int64_t number;

	*ret_offset = n_digits;
	if (!port[0])
		return "missing port (expected HOST:PORT)";
	if (port[n_digits] == ':')
		return "an IPv6 address needs brackets, as in [::1]:2222";
	if (port[n_digits])
		return "unexpected character in a port (expected a number from 1 to 65535)";
	*ret_offset = 0;
	if (text_read_int(port, 1, 65535, &number, NULL))
		return "a port must be a number from 1 to 65535";
	return NULL;
}

const char *address_fault(const char *address, size_t *ret_offset)
{
	size_t len = host_length(address);
	const char *fault = host_fault(address, len);

	if (fault) {
		*ret_offset = text_starts_with(address, "grpc://") ? 0 : len;
		return fault;
	}
	fault = port_fault(address + len + 1, ret_offset);
	*ret_offset += len + 1;
	return fault;
}

char *address_host(const char *address)
{
	size_t len = host_length(address);

	if (address[0] == '[')
		return mem_copy_bytes(address + 1, len - 2);
	return mem_copy_bytes(address, len);
}

int address_port(const char *address)
{
	int64_t port = 0;
	int rc = text_read_int(strrchr(address, ':') + 1, 1, 65535, &port, NULL);

	return rc ? 0 : (int) port;
}

/* What the readers of both forms find goes through the first part, which checks it. */

#define SHOWN_MAX 100
#define NOWHERE ((struct place){0})

/* Texts passed to it live in the arena of the spec. */
struct cluster_build {
	struct cluster_spec *spec;
	struct faults *faults;
	bool is_full; /* a limit was reached, and reported; what follows is dropped */
};

/* `n_tasks`: as many as the text can have. */
static struct cluster_build begin_build(size_t n_tasks, struct faults *faults)
{
	struct cluster_spec *spec = mem_new(sizeof(*spec));
	size_t room = n_tasks < LIMIT_REPLICAS ? n_tasks : LIMIT_REPLICAS;

	spec->arena = arena_new();
	spec->jobs = arena_take_array(spec->arena, LIMIT_CLUSTER_JOBS, sizeof(*spec->jobs));
	spec->tasks = arena_take_array(spec->arena, room, sizeof(*spec->tasks));
	return (struct cluster_build){.spec = spec, .faults = faults};
}

static void cluster_build_done(struct cluster_build *build)
{
	cluster_spec_cleanup(&build->spec);
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

/* Whether another thing is accepted after `count` of them. */
static bool has_room(struct cluster_build *build, size_t count, size_t limit, const char *things,
		     struct place place, const char *path)
{
	if (count == limit && !build->is_full) {
		fault_add(build->faults, place, path, "more than %zu %s", limit, things);
		build->is_full = true;
	}
	return !build->is_full;
}

/* Starts a job, to which the following tasks belong. A second one of that name is a fault. */
static void add_job(struct cluster_build *build, const char *name, struct place place,
		    const char *path)
{
	struct cluster_spec *spec = build->spec;

	if (!has_room(build, spec->n_jobs, LIMIT_CLUSTER_JOBS, "jobs", place, path))
		return;
	if (name[0] && cluster_spec_job(spec, name))
		fault_add(build->faults, place, path,
			  "job '%.*s' is listed twice; put all its tasks into one list",
			  shown(name), name);
	spec->jobs[spec->n_jobs++] =
		(struct spec_job){.name = name, .tasks = spec->tasks + spec->n_tasks};
}

/* Adds a task to the last job. An invalid address is a fault, at its place in the address. */
static void add_task(struct cluster_build *build, int index, const char *address,
		     struct place place, const char *path)
{
	struct cluster_spec *spec = build->spec;
	size_t offset = 0;

	if (!has_room(build, spec->n_tasks, LIMIT_REPLICAS, "tasks", place, path))
		return;
	const char *fault = address_fault(address, &offset);

	if (fault) {
		struct place at = {place.line, place.column + (place.line > 0 ? (int) offset : 0)};

		fault_add(build->faults, at, path, "'%.*s': %s", shown(address), address, fault);
	}
	struct spec_job *job = &spec->jobs[spec->n_jobs - 1];

	spec->tasks[spec->n_tasks++] = (struct spec_task){job->name, index, address, place, path};
	job->n_tasks++;
}

/* By address; those of one address in the order of the text. */
static int compare_addresses(const void *a, const void *b)
{
	const struct spec_task *one = *(const struct spec_task *const *) a;
	const struct spec_task *other = *(const struct spec_task *const *) b;
	int order = strcmp(one->address, other->address);

	return order != 0 ? order : (one > other) - (one < other);
}

/* Two servers cannot listen on one address. */
static void check_addresses(struct cluster_build *build)
{
	size_t n_tasks = build->spec->n_tasks;
	const struct spec_task **sorted CLEANUP(mem_free_any) =
		mem_new_array(n_tasks + 1, sizeof(*sorted));
	const struct spec_task **first = sorted;

	for (size_t i = 0; i < n_tasks; i++)
		sorted[i] = &build->spec->tasks[i];
	qsort(sorted, n_tasks, sizeof(*sorted), compare_addresses);
	for (size_t i = 1; i < n_tasks; i++) {
		const struct spec_task *task = sorted[i];

		if (!text_equals(task->address, (*first)->address))
			first = &sorted[i];
		else if (task->address[0])
			fault_add(build->faults, task->place, task->path,
				  "'%.*s' is already the address of %.*s-%d", shown(task->address),
				  task->address, shown((*first)->job), (*first)->job,
				  (*first)->index);
	}
}

static int compare_indices(const void *a, const void *b)
{
	const struct spec_task *one = a, *other = b;

	return (one->index > other->index) - (one->index < other->index);
}

/* Gives the spec away. ERR_INVALID when there was any fault, also two tasks at one address; then
 * the faults are sorted by their places. */
static int end_build(struct cluster_build *build, struct cluster_spec **ret_spec)
{
	struct cluster_spec *spec = build->spec;

	check_addresses(build);
	if (build->faults->count > 0) {
		faults_sort(build->faults, 0);
		return ERR_INVALID;
	}
	/* A map may have them in any order. */
	for (size_t i = 0; i < spec->n_jobs; i++)
		qsort(spec->jobs[i].tasks, spec->jobs[i].n_tasks, sizeof(*spec->tasks),
		      compare_indices);
	*ret_spec = TAKE(build->spec);
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
	return arena_format(build->spec->arena, "%.*s", (int) part.len, part.bytes);
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

/* NAME|HOST:PORT(;HOST:PORT)* */
static void parse_cluster_job(struct cluster_build *build, struct part part)
{
	struct part rest = part, name, tasks;

	if (!next_piece(&rest, '|', &name) || !next_piece(&rest, '|', &tasks)) {
		if (part.len == 0)
			fault_add(build->faults, part_place_of(part, 0), "",
				  "an empty job: expected NAME|HOST:PORT(;HOST:PORT)*");
		else
			fault_add(build->faults, part_place_of(part, part.len), "",
				  "job '%.*s' has no '|': expected NAME|HOST:PORT(;HOST:PORT)*",
				  shown_length(part.bytes, part.len), part.bytes);
		return;
	}
	check_spec_job_name(build, name);
	add_job(build, copy_part(build, name), part_place_of(name, 0), "");
	if (build->is_full)
		return;
	struct part left = tasks, piece;

	for (int index = 0; next_piece(&left, ';', &piece); index++)
		if (piece.len == 0)
			fault_add(build->faults, part_place_of(piece, 0), "",
				  "task %d of job '%.*s' is empty: expected HOST:PORT", index,
				  shown_length(name.bytes, name.len), name.bytes);
		else
			add_task(build, index, copy_part(build, piece), part_place_of(piece, 0),
				 "");
	if (rest.bytes)
		fault_add(build->faults, part_place_of(tasks, tasks.len), "",
			  "a second '|' in job '%.*s': jobs are separated by ',', tasks by ';'",
			  shown_length(name.bytes, name.len), name.bytes);
}

int cluster_spec_read(const char *text, struct faults *faults, struct cluster_spec **ret_spec)
{
	struct part rest = {.bytes = text, .len = strlen(text), .column = 1}, piece;
	const struct place begin = {.line = 1, .column = 1};
	size_t n_tasks = 1;

	if (rest.len > LIMIT_CLUSTER_SPEC)
		fault_add(faults, begin, "", "longer than %d bytes", LIMIT_CLUSTER_SPEC);
	else if (rest.len == 0)
		fault_add(faults, begin, "",
			  "empty: expected NAME|HOST:PORT(;HOST:PORT)*, and ',' between jobs");
	if (rest.len == 0 || rest.len > LIMIT_CLUSTER_SPEC)
		return ERR_INVALID;
	for (const char *at = text; (at = strpbrk(at, ";,")); at++)
		n_tasks++;
	struct cluster_build build CLEANUP(cluster_build_done) = begin_build(n_tasks, faults);

	while (!build.is_full && next_piece(&rest, ',', &piece))
		parse_cluster_job(&build, piece);
	return end_build(&build, ret_spec);
}

/* Reads the cluster and the task from a TF_CONFIG document, as TFConfigClusterResolver and
 * tf.train.ClusterSpec do: a list of addresses for each job, or a sparse map of index to address; a
 * job that is null or empty has no tasks. Other members are ignored. */

static void read_address(struct cluster_build *build, int index, const struct json *value,
			 const char *path)
{
	const char *address = json_as_string(value, NULL);

	if (address)
		add_task(build, index, arena_copy_text(build->spec->arena, address), NOWHERE, path);
	else
		fault_add(build->faults, NOWHERE, path, "expected an address, HOST:PORT");
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
		const char *task_path = arena_format(build->spec->arena, "%s.%s", path, key);

		if (is_plain_index(key, &index))
			read_address(build, (int) index, value, task_path);
		else
			fault_add(build->faults, NOWHERE, task_path,
				  "the key of a task must be its index, 0 to %d", LIMIT_TASK_INDEX);
	}
}

static void read_config_job(struct cluster_build *build, const char *name, const struct json *tasks)
{
	const char *path = arena_format(build->spec->arena, "cluster.%s", name);
	bool is_list = json_is(tasks, JSON_ARRAY), is_map = json_is(tasks, JSON_OBJECT);

	/* As in TensorFlow's device names (DeviceNameUtils::IsJobName). */
	if (strspn(name, NAME_LETTERS) == 0 || name[strspn(name, NAME_LETTERS NAME_DIGITS "_")])
		fault_add(build->faults, NOWHERE, path,
			  "a job name must be a letter, then letters, digits and '_'");
	if (!is_list && !is_map && !json_is(tasks, JSON_NULL))
		fault_add(build->faults, NOWHERE, path,
			  "expected a list of addresses, or a map of index to address");
	if (json_count(tasks) == 0)
		return;
	add_job(build, arena_copy_text(build->spec->arena, name), NOWHERE, path);
	for (size_t i = 0; is_list && i < json_count(tasks) && !build->is_full; i++)
		read_address(build, (int) i, json_at(tasks, i),
			     arena_format(build->spec->arena, "%s[%zu]", path, i));
	if (is_map)
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
	if (build->spec->n_jobs == 0 && build->faults->count == 0)
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

int cluster_spec_read_tf_config(const char *text, struct faults *faults,
				struct cluster_spec **ret_spec)
{
	struct json *root CLEANUP(json_cleanup) = NULL;
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = NULL;
	struct err err = {0};
	const char *name = NULL;
	struct json *tasks;
	size_t len = strlen(text), n_tasks = 0;

	if (len > LIMIT_CLUSTER_SPEC)
		fault_add(faults, NOWHERE, "", "longer than %d bytes", LIMIT_CLUSTER_SPEC);
	else if (json_read(text, len, &root, &err))
		fault_add(faults, NOWHERE, "", "not JSON: %s", err.text);
	if (!root)
		return ERR_INVALID;
	while (json_next(json_get(root, "cluster"), &name, &tasks))
		n_tasks += json_count(tasks);
	struct cluster_build build CLEANUP(cluster_build_done) = begin_build(n_tasks, faults);

	read_cluster(&build, json_get(root, "cluster"));
	if (end_build(&build, &spec))
		return ERR_INVALID;
	read_task(json_get(root, "task"), spec, faults);
	if (faults->count > 0)
		return ERR_INVALID;
	*ret_spec = TAKE(spec);
	return 0;
}

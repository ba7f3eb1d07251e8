/* Reads the cluster and the task from a TF_CONFIG document, as TFConfigClusterResolver and
 * tf.train.ClusterSpec do: a list of addresses for each job, or a sparse map of index to address; a
 * job that is null or empty has no tasks. Other members are ignored. */
#include "spec/cluster_spec.h"

#include "base/json.h"
#include "base/mem.h"
#include "spec/cluster_build.h"
#include "spec/limits.h"

#include <ctype.h>
#include <string.h>

#define NOWHERE ((struct place){0})

/* As in TensorFlow's device names (DeviceNameUtils::IsJobName). */
static bool is_job_name(const char *name)
{
	if (!isalpha((unsigned char) name[0]))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char) *name) && *name != '_')
			return false;
	return true;
}

static void read_address(struct cluster_build *build, int index, const struct json *value,
			 const char *path)
{
	const char *address = json_as_string(value, NULL);

	if (address)
		cluster_build_add_task(build, index, arena_copy_text(build->arena, address),
				       NOWHERE, path);
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
	cluster_build_add_job(build, arena_copy_text(build->arena, name), NOWHERE, path);
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
	const char *type = json_as_string(json_get(task, "type"), NULL);
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
	struct cluster_build build CLEANUP(cluster_build_done);
	struct cluster_spec *spec CLEANUP(cluster_spec_cleanup) = NULL;

	cluster_build_init(&build, faults);
	read_cluster(&build, json_get(root, "cluster"));
	if (cluster_build_end(&build, &spec))
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

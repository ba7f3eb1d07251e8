/* The Pod template of a role: the training container, and the values that are read from it.
 *
 * Of the other values of a Pod only quantities are checked: Kubernetes knows its Pods better, and
 * adds fields with each release. Names that look misspelled are rejected (spec/pod_fields.h). */
#include "base/names.h"
#include "base/text.h"
#include "spec/job_field.h"
#include "spec/limits.h"
#include "spec/pod_fields.h"
#include "spec/quantity.h"

#define CONTAINER_NAME "tensorflow"
#define PORT_NAME "tfjob-port"
#define DEFAULT_PORT 2222

/* k8s.io/apimachinery IsEnvVarName, word for word. */
#define ENVIRONMENT_RULE                                                                           \
	"a valid environment variable name must consist of alphabetic characters, digits, '_', "   \
	"'-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  "   \
	"or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"

/* A NULL-terminated list of texts; NULL when absent. */
static const char *const *read_texts(struct field_reader *reader, const struct field *list,
				     struct arena *arena)
{
	if (!field_is_set(list))
		return NULL;

	size_t count = field_count(reader, list);
	const char **texts = arena_take_array(arena, count + 1, sizeof(*texts));

	for (size_t i = 0; i < count; i++) {
		const struct field *element = FIELD_ELEMENT(list, i);

		if (!field_is_set(element))
			field_refuse(reader, element, "Invalid value: null: expected text");
		texts[i] = field_text(reader, element, "");
	}
	return texts;
}

static struct env_entry read_env_entry(struct field_reader *reader, const struct field *field)
{
	const struct field *name = FIELD_MEMBER(field, "name");
	const struct field *source = FIELD_MEMBER(field, "valueFrom");
	struct env_entry entry = {
		.name = field_text(reader, name, ""),
		.value = field_text(reader, FIELD_MEMBER(field, "value"), ""),
	};

	(void) field_is_object(reader, field);
	if (reader_is_strict(reader) && !field_is_set(name))
		field_refuse(reader, name, "Required value");
	else if (reader_is_strict(reader) && json_is(name->value, JSON_STRING) &&
		 !name_is_environment_variable(entry.name))
		field_refuse_value(reader, name, "%s", ENVIRONMENT_RULE);
	if (field_is_object(reader, source)) {
		if (reader_is_strict(reader) && entry.value[0] != '\0')
			field_refuse(reader, source,
				     "Invalid value: \"\": may not be specified when `value` is "
				     "not empty");
		entry.value = NULL;
	}
	return entry;
}

static int read_port(struct field_reader *reader, const struct field *container)
{
	const struct field *ports = FIELD_MEMBER(container, "ports");
	size_t count = field_count(reader, ports);

	for (size_t i = 0; i < count; i++) {
		const struct field *port = FIELD_ELEMENT(ports, i);

		if (text_equals(json_get_string(port->value, "name", NULL), PORT_NAME))
			return (int) field_integer(reader, FIELD_MEMBER(port, "containerPort"), 1,
						   65535, DEFAULT_PORT);
	}
	return DEFAULT_PORT;
}

/* A whole number, which Kubernetes also accepts as text. */
static int read_number_of_gpus(struct field_reader *reader, const struct field *field)
{
	const char *text = json_as_string(field->value, NULL);
	int64_t number;

	if (!text)
		return (int) field_integer(reader, field, 0, JOB_GPUS_MAX, JOB_GPUS_SHARED);
	if (!text_read_int(text, 0, JOB_GPUS_MAX, &number, NULL))
		return (int) number;
	if (reader_is_strict(reader))
		field_refuse_value(reader, field, "expected a whole number up to %d", JOB_GPUS_MAX);
	return JOB_GPUS_SHARED;
}

static int read_gpus(struct field_reader *reader, const struct field *template,
		     const struct field *container_field, struct container *container)
{
	static const char *const words[] = {JOB_GPUS_ALL_WORD};
	const struct field *metadata = FIELD_MEMBER(template, "metadata");
	const struct field *annotations = FIELD_MEMBER(metadata, "annotations");
	const struct field *resources = FIELD_MEMBER(container_field, "resources");
	const struct field *limits = FIELD_MEMBER(resources, "limits");
	const struct field *limit = FIELD_MAP_ENTRY(limits, JOB_GPU_RESOURCE);
	bool wants_all = field_word(reader, FIELD_MAP_ENTRY(annotations, JOB_ANNOTATION_GPUS),
				    words, ARRAY_LEN(words), -1, -1) == 0;

	container->gpu_place = field_place(reader, limit);
	return wants_all ? JOB_GPUS_ALL : read_number_of_gpus(reader, limit);
}

/* Of resources.limits or .requests; 0 if it has none. */
static double read_amount(const struct field *container, const char *kind, const char *resource)
{
	const struct json *value =
		json_get_path(container->value, "resources", kind, resource, NULL);
	double amount = json_as_real(value, 0);

	if (json_is(value, JSON_STRING) &&
	    quantity_read(json_as_string(value, ""), &amount, NULL) < 0)
		return 0;
	return amount > 0 ? amount : 0;
}

static void read_container(struct field_reader *reader, const struct field *field,
			   struct arena *arena, struct role *role)
{
	struct container *container = &role->container;
	const struct field *command = FIELD_MEMBER(field, "command");
	const struct field *working_dir = FIELD_MEMBER(field, "workingDir");
	const struct field *list = FIELD_MEMBER(field, "env");

	container->name = json_get_string(field->value, "name", "");
	container->image = json_get_string(field->value, "image", NULL);
	container->command = read_texts(reader, command, arena);
	container->args = read_texts(reader, FIELD_MEMBER(field, "args"), arena);
	container->working_dir = field_text(reader, working_dir, NULL);
	if (container->working_dir && container->working_dir[0] == '\0')
		container->working_dir = NULL;
	container->n_env = field_count(reader, list);
	struct env_entry *env = arena_take_array(arena, container->n_env, sizeof(*env));

	for (size_t i = 0; i < container->n_env; i++)
		env[i] = read_env_entry(reader, FIELD_ELEMENT(list, i));
	container->env = env;
	container->memory_limit = read_amount(field, "limits", "memory");
	container->cpu_limit = read_amount(field, "limits", "cpu");
	container->processors = container->cpu_limit > 0 ? container->cpu_limit
							 : read_amount(field, "requests", "cpu");
	container->command_place = field_place(reader, command);
	container->working_dir_place = field_place(reader, working_dir);
	role->port = read_port(reader, field);
}

/* Number of the first container of this name below `count`; `count` when there is none. */
static size_t find_container(const struct field *containers, size_t count, const char *name)
{
	size_t i = 0;

	while (i < count &&
	       !text_equals(json_get_string(json_at(containers->value, i), "name", NULL), name))
		i++;
	return i;
}

/* The GPUs of the training container are read, and so checked, elsewhere. */
static void check_quantities(struct field_reader *reader, const struct field *quantities)
{
	struct json *value;

	for (const char *key = NULL; json_next(quantities->value, &key, &value);) {
		const char *text = json_as_string(value, NULL);
		double amount = json_as_real(value, -1);

		if (json_is(value, JSON_NULL) || text_equals(key, JOB_GPU_RESOURCE))
			continue;
		if (text ? quantity_read(text, &amount, NULL) < 0 : amount < 0)
			field_refuse_value(reader, FIELD_MAP_ENTRY(quantities, key),
					   "expected a quantity, which is a number and one of the "
					   "suffixes " QUANTITY_SUFFIXES);
	}
}

/* Checks that apply to every container, also to those that do not train. */
static void check_container(struct field_reader *reader, const struct field *containers,
			    size_t index)
{
	const struct field *container = FIELD_ELEMENT(containers, index);
	const struct field *name = FIELD_MEMBER(container, "name");
	const struct field *image = FIELD_MEMBER(container, "image");
	const struct field *resources = FIELD_MEMBER(container, "resources");
	const char *name_text = field_text(reader, name, NULL);
	const char *image_text = field_text(reader, image, "");

	(void) field_is_object(reader, container);
	if (reader->strictness == JOB_ADMISSION && image_text[0] == '\0')
		field_refuse(reader, image, "Required value: must be required");
	if (reader_is_strict(reader) && !field_is_set(name))
		field_refuse(reader, name, "Required value");
	if (reader_is_strict(reader) && name_text &&
	    find_container(containers, index, name_text) < index)
		field_refuse(reader, name, "Duplicate value: \"%s\"", name_text);
	if (reader_is_strict(reader)) {
		check_quantities(reader, FIELD_MEMBER(resources, "limits"));
		check_quantities(reader, FIELD_MEMBER(resources, "requests"));
	}
}

/* The webhook reports a Pod without containers twice, and so do we. Returns how many are read. */
static size_t check_containers(struct field_reader *reader, const struct field *containers)
{
	size_t count = field_count(reader, containers);

	if (field_is_set(containers) && !json_is(containers->value, JSON_ARRAY))
		return 0;
	if (count == 0)
		field_refuse(reader, containers, "Required value: must be specified");
	if (count > LIMIT_CONTAINERS) {
		field_refuse(reader, containers, "Too many: %zu: must have at most %d items", count,
			     LIMIT_CONTAINERS);
		count = LIMIT_CONTAINERS;
	}
	for (size_t i = 0; i < count; i++)
		check_container(reader, containers, i);
	if (find_container(containers, count, CONTAINER_NAME) == count)
		field_refuse(reader, containers,
			     "Required value: must have at least one container with name %s",
			     CONTAINER_NAME);
	return count;
}

/* The number of values in it, itself included; the depth is limited where JSON is read. */
static size_t count_values(const struct json *value)
{
	size_t count = 1;
	struct json *member;

	for (const char *key = NULL; json_next(value, &key, &member);)
		count += count_values(member);
	for (size_t i = 0; json_is(value, JSON_ARRAY) && i < json_count(value); i++)
		count += count_values(json_at(value, i));
	return count;
}

void job_read_template(struct field_reader *reader, const struct field *template,
		       struct arena *arena, struct role *role)
{
	const struct field *pod = FIELD_MEMBER(template, "spec");
	const struct field *containers = FIELD_MEMBER(pod, "containers");
	size_t n_values = count_values(template->value);

	role->template = template->value;
	if (n_values > LIMIT_TEMPLATE_VALUES)
		field_refuse(reader, template, "Too many: %zu values: must have at most %d",
			     n_values, LIMIT_TEMPLATE_VALUES);
	(void) field_is_object(reader, template);
	(void) field_is_object(reader, pod);
	pod_fields_check(reader, template);
	role->grace = field_seconds(reader, pod, "terminationGracePeriodSeconds");

	size_t count = check_containers(reader, containers);
	size_t chosen = find_container(containers, count, CONTAINER_NAME);
	const struct field *container = FIELD_ELEMENT(containers, chosen < count ? chosen : 0);

	read_container(reader, container, arena, role);
	role->gpus = read_gpus(reader, template, container, &role->container);
}

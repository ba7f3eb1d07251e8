/* The fields of a job file that have no effect for processes on this machine.
 *
 * Everything that is not used is named, instead of a list of known fields, because Kubernetes adds
 * fields with each release. */
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "spec/pod_fields.h"
#include "spec/pod_template.h"

/* Names reported at most; the rest is "and others". */
#define TOLD_MAX 24

static const char *const honoured_pod_words[] = {"containers", "terminationGracePeriodSeconds"};
static const char *const honoured_container_words[] = {"name",       "command", "args",
						       "workingDir", "env",     "resources"};

struct told {
	const char *names[TOLD_MAX]; /* in the arena */
	size_t count;
	bool has_others;
	bool has_memory_limit;
	struct arena *arena;
};

/* One name is reported once for all roles. */
static void add_ignored_field(struct told *told, const char *name)
{
	if (name_find_word(told->names, told->count, name) >= 0)
		return;
	if (told->count == TOLD_MAX)
		told->has_others = true;
	else
		told->names[told->count++] = name;
}

/* A name that is no field of Kubernetes is probably an error. */
static void add_ignored_members(struct told *told, const struct json *object,
				const char *const *honoured_words, size_t n_words,
				bool (*is_known)(const char *name))
{
	const char *key = NULL;
	struct json *value;

	while (json_next(object, &key, &value))
		if (!json_is(value, JSON_NULL) && name_find_word(honoured_words, n_words, key) < 0)
			add_ignored_field(told,
					  arena_format(told->arena, "%s%s", key,
						       is_known(key) ? "" : " (unknown field)"));
}

/* GPUs are assigned on this machine too, CPUs become a number of threads, and the limits of memory
 * and CPU are those of the job's scope. */
static void add_ignored_resources(struct told *told, const struct json *resources)
{
	const char *kind = NULL;
	struct json *amounts, *amount;

	while (json_next(resources, &kind, &amounts))
		for (const char *name = NULL; json_next(amounts, &name, &amount);)
			if (!text_equals(name, "cpu") &&
			    !(text_equals(name, "memory") && told->has_memory_limit) &&
			    !(text_equals(name, JOB_GPU_RESOURCE) && text_equals(kind, "limits")))
				add_ignored_field(told,
						  arena_format(told->arena, "resources.%s", name));
}

static void add_ignored_containers(struct told *told, const struct role *role)
{
	const struct json *containers = json_get_path(role->template, "spec", "containers", NULL);
	bool is_chosen_passed = false;

	for (size_t i = 0; i < json_count(containers); i++) {
		const struct json *container = json_at(containers, i);
		const char *name = json_get_string(container, "name", "");

		if (!is_chosen_passed && text_equals(name, role->container.name)) {
			add_ignored_members(told, container, honoured_container_words,
					    ARRAY_LEN(honoured_container_words),
					    pod_container_field_is_known);
			add_ignored_resources(told, json_get(container, "resources"));
			is_chosen_passed = true;
		} else {
			add_ignored_field(told, arena_format(told->arena, "container '%s'", name));
		}
	}
}

void job_describe_ignored_here(const struct job *job, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct told told = {.arena = arena, .has_memory_limit = job_limits(job).memory > 0};

	if (json_get_path(job->document, "spec", "runPolicy", "schedulingPolicy", NULL))
		add_ignored_field(&told, "schedulingPolicy");
	if (json_get_path(job->document, "spec", "elasticPolicy", NULL))
		add_ignored_field(&told, "elasticPolicy");
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		const struct env_entry *env = role->container.env;

		add_ignored_members(&told, json_get(role->template, "spec"), honoured_pod_words,
				    ARRAY_LEN(honoured_pod_words), pod_field_is_known);
		add_ignored_containers(&told, role);
		for (size_t at = 0; at < role->container.n_env; at++)
			if (!env[at].value)
				add_ignored_field(
					&told,
					arena_format(arena, "valueFrom of env '%s'", env[at].name));
	}
	for (size_t i = 0; i < told.count; i++)
		text_addf(text, "%s%s", i > 0 ? ", " : "", told.names[i]);
	if (told.has_others)
		text_add(text, " and others");
}

void job_describe_own_identity(const struct job *job, struct text *text)
{
	static const char *const names[] = {"TF_CONFIG", "RANK", "LOCAL_RANK", "WORLD_SIZE",
					    "JAX_PROCESS_ID"};

	for (size_t i = 0; i < ARRAY_LEN(names) && job_replica_count(job) > 1; i++) {
		struct text roles CLEANUP(text_done) = {0};

		for (size_t j = 0; j < job->n_roles; j++) {
			const struct json *container =
				pod_template_container(job->roles[j].template);

			if (pod_template_find(json_get(container, "env"), "name", names[i]))
				text_addf(&roles, "%s%s", roles.len ? ", " : "",
					  job->roles[j].name);
		}
		if (roles.len)
			text_addf(text, "%s%s (%s)", text->len ? ", " : "", names[i],
				  text_of(&roles));
	}
}

static bool is_torchrun(const char *word)
{
	const char *slash = strrchr(word, '/');

	return text_equals(slash ? slash + 1 : word, "torchrun") ||
	       text_equals(word, "torch.distributed.run") ||
	       text_equals(word, "torch.distributed.launch");
}

bool job_nests_torchrun(const struct job *job)
{
	for (size_t i = 0; i < job->n_roles && job_replica_count(job) > 1; i++) {
		const char *const *word = job->roles[i].container.command;

		for (; word && *word; word++)
			if (is_torchrun(*word))
				return true;
	}
	return false;
}

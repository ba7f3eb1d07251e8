/* Variables that a document names without their values. */
#include "spec/job_secret.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/pod_template.h"

#include <stdlib.h>

char *job_secret_name(const char *job_name)
{
	return mem_format("%s.env", job_name);
}

static bool reads_secret_variable(const struct json *container, const char *secret_name)
{
	const struct json *env = json_get(container, "env");

	for (size_t i = 0; i < json_count(env); i++) {
		const struct json *name =
			json_get_path(json_at(env, i), "valueFrom", "secretKeyRef", "name", NULL);

		if (text_equals(json_as_string(name, NULL), secret_name))
			return true;
	}
	return false;
}

bool job_secret_is_named(const struct job *job)
{
	char *name CLEANUP(mem_free_text) = job_secret_name(job->name);

	for (size_t i = 0; i < job->n_roles; i++)
		if (reads_secret_variable(pod_template_container(job->roles[i].template), name))
			return true;
	return false;
}

void job_secret_init(struct job_secret *secret, const char *name, const struct env_entry *env,
		     size_t n_env)
{
	secret->name = mem_copy_text(name);
	secret->values = json_new_object();
	for (size_t i = 0; i < n_env; i++)
		json_set_string(secret->values, env[i].name, env[i].value);
}

void job_secret_done(struct job_secret *secret)
{
	free(secret->name);
	json_free(secret->values);
}

static struct json *variable_new(const char *secret_name, const char *name)
{
	struct json *variable = json_new_object();
	struct json *key;

	json_set_string(variable, "name", name);
	key = json_object_at(json_object_at(variable, "valueFrom"), "secretKeyRef");
	json_set_string(key, "name", secret_name);
	json_set_string(key, "key", name);
	return variable;
}

static void add_to(struct json *container, const struct job_secret *secret)
{
	struct json *list = json_array_at(container, "env");
	const char *name = NULL;
	struct json *value;

	while (json_next(secret->values, &name, &value))
		json_append(list, variable_new(secret->name, name));
}

void job_document_add_secret(struct json *document, const struct job_secret *secret)
{
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	const char *title = NULL;
	struct json *role;

	if (!secret->name)
		return;
	while (json_next(roles, &title, &role))
		add_to(pod_template_container(json_get(role, "template")), secret);
}

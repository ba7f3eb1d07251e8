#include "spec/job_build.h"

#include "spec/environment.h"
#include "spec/pod_template.h"

static struct json *literal(const char *string)
{
	struct text text CLEANUP(text_done) = {0};

	environment_add_literal(&text, string);
	return json_new_string(text_of(&text));
}

static struct json *run_policy_new(const struct job_build *build)
{
	struct json *policy = json_new_object();
	enum restart_scope scope = build->ps > 0 ? RESTART_SCOPE_WORKER : RESTART_SCOPE_JOB;

	json_set_string(policy, "cleanPodPolicy", clean_policy_words[CLEAN_RUNNING]);
	json_set_string(policy, "restartScope",
			build->restart_scope ? build->restart_scope : restart_scope_words[scope]);
	if (build->max_restarts >= 0)
		json_set_integer(policy, "backoffLimit", build->max_restarts);
	if (build->timeout >= 0)
		json_set_integer(policy, "activeDeadlineSeconds",
				 msec_to_whole_seconds(build->timeout));
	if (build->grace >= 0)
		json_set_integer(policy, "gracePeriodSeconds", msec_to_whole_seconds(build->grace));
	json_set_string(policy, "stopSignal", build->stop_signal);
	return policy;
}

/* One TensorFlow server, which reads cluster and task from TF_CONFIG. */
static const char *const server_command[] = {"muster", "server", NULL};

void job_document_add_env(struct json *container, const struct env_entry *env, size_t n_env)
{
	for (size_t i = 0; i < n_env; i++)
		json_set(pod_template_add(container, "env", env[i].name), "value",
			 literal(env[i].value));
}

static void add_role_spec(struct json *specs, const struct job_build *build, const char *title,
			  int replicas, bool is_server)
{
	if (replicas == 0)
		return;

	struct json *spec = json_object_at(specs, title);
	enum restart_policy policy = build->max_restarts == 0 ? RESTART_NEVER : RESTART_ON_FAILURE;

	json_set_integer(spec, "replicas", replicas);
	json_set_string(spec, "restartPolicy", restart_policy_words[policy]);
	struct json *pod = json_object_at(json_object_at(spec, "template"), "spec");

	struct json *container = json_new_texts("name", "tensorflow", NULL);

	for (const char *const *word = is_server ? server_command : build->command; *word; word++)
		json_append(json_array_at(container, "command"), literal(*word));
	json_set_string(container, "workingDir", build->working_dir);
	job_document_add_env(container, build->env, build->n_env);
	json_append(json_array_at(pod, "containers"), container);
}

struct json *job_document_new(const struct job_build *build)
{
	struct json *document =
		json_new_texts("apiVersion", "kubeflow.org/v1", "kind", "TFJob", NULL);

	json_set_string(json_object_at(document, "metadata"), "name", build->name);
	struct json *spec = json_object_at(document, "spec");

	json_set(spec, "runPolicy", run_policy_new(build));
	if (!build->has_chief)
		json_set_string(spec, "successPolicy", "AllWorkers");
	struct json *roles = json_object_at(spec, "tfReplicaSpecs");

	add_role_spec(roles, build, "Chief", build->has_chief, false);
	add_role_spec(roles, build, "Worker", build->workers, build->workers_are_servers);
	add_role_spec(roles, build, "PS", build->ps, build->ps_are_servers);
	add_role_spec(roles, build, "Evaluator", build->has_evaluator, false);
	return document;
}

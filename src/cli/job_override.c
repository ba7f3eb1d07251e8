#include "cli/job_override.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/job_name.h"
#include "spec/job.h"
#include "spec/job_build.h"
#include "spec/pod_template.h"

void job_override_identity(const struct options *options, struct json *root)
{
	struct json *metadata = json_get(root, "metadata");
	const char *name = option_text(options, "name");

	if (json_is(root, JSON_OBJECT) && name && !metadata)
		metadata = json_object_at(root, "metadata");
	if (!json_is(metadata, JSON_OBJECT))
		return;
	json_remove(root, "status");
	json_remove(metadata, "uid");
	json_remove(metadata, "resourceVersion");
	json_remove(metadata, "creationTimestamp");
	json_remove(json_get(metadata, "annotations"), JOB_ANNOTATION_STOP);
	json_remove(json_get(metadata, "annotations"), JOB_ANNOTATION_STOP_GRACE);

	const char *beginning = json_as_string(json_get(metadata, "generateName"), NULL);

	if (name) {
		json_set_string(metadata, "name", name);
	} else if (beginning && !json_get(metadata, "name")) {
		char *generated CLEANUP(mem_free_text) = job_name_generate(beginning);

		json_set_string(metadata, "name", generated);
	}
}

bool job_override_is_needed(const struct options *options, const struct variables *variables)
{
	return variables->count > 0 || option_is_given(options, "max-restarts") ||
	       option_is_given(options, "restart-scope") || option_is_given(options, "timeout") ||
	       option_is_given(options, "grace") || option_is_given(options, "stop-signal");
}

static void override_policy(const struct options *options, struct json *policy)
{
	int64_t max_restarts = option_number(options, "max-restarts", 0);

	if (option_is_given(options, "max-restarts") && max_restarts >= 0)
		json_set_integer(policy, "backoffLimit", max_restarts);
	else if (option_is_given(options, "max-restarts"))
		json_remove(policy, "backoffLimit");
	json_set_string(policy, "restartScope", option_text(options, "restart-scope"));
	if (option_is_given(options, "timeout"))
		json_set_integer(policy, "activeDeadlineSeconds",
				 msec_to_whole_seconds(option_duration(options, "timeout", 0)));
	if (option_is_given(options, "grace"))
		json_set_integer(policy, "gracePeriodSeconds",
				 msec_to_whole_seconds(option_duration(options, "grace", 0)));
	json_set_string(policy, "stopSignal", option_text(options, "stop-signal"));
}

static void allow_restarts(struct json *role)
{
	const char *policy = json_as_string(json_get(role, "restartPolicy"),
					    restart_policy_words[RESTART_NEVER]);

	if (text_equals(policy, restart_policy_words[RESTART_NEVER]))
		json_set_string(role, "restartPolicy", restart_policy_words[RESTART_ON_FAILURE]);
}

void job_override(const struct options *options, const struct variables *variables,
		  struct json *document)
{
	struct json *spec = json_object_at(document, "spec");
	const struct json *roles = json_get(spec, "tfReplicaSpecs");
	const char *title = NULL;
	struct json *role;

	override_policy(options, json_object_at(spec, "runPolicy"));
	while (json_next(roles, &title, &role)) {
		if (option_number(options, "max-restarts", 0) != 0)
			allow_restarts(role);
		job_document_add_env(pod_template_container(json_get(role, "template")),
				     variables->list, variables->count);
	}
}

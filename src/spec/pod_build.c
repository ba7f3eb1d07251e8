/* Writes the options for Pods into the templates of a document. */
#include "spec/pod_build.h"

#include "base/names.h"
#include "base/text.h"
#include "spec/pod_template.h"

bool pod_build_is_empty(const struct pod_build *build)
{
	const char *const texts[] = {
		build->image, build->name_space,      build->cpu,      build->memory,
		build->gpu,   build->service_account, build->priority,
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i])
			return false;
	return !build->image_pull_secrets.count && !build->node_selectors.count &&
	       !build->tolerations.count && !build->volumes.count && !build->template;
}

int pod_build_template(const struct json *document, const struct json **ret_template,
		       struct err *err)
{
	static const char *const kinds[] = {"Pod",        "PodTemplate",          "Deployment",
					    "Job",        "StatefulSet",          "DaemonSet",
					    "ReplicaSet", "ReplicationController"};
	const char *kind = json_as_string(json_get(document, "kind"), NULL);
	const struct json *inner = json_get_path(document, "spec", "template", NULL);
	const struct json *template = json_get(document, "template");

	if (kind && name_find_word(kinds, ARRAY_LEN(kinds), kind) < 0)
		return err_set(err, ERR_INVALID,
			       "kind '%s' has no Pod template (expected a Pod, a PodTemplate, or a "
			       "Deployment, Job or similar)",
			       kind);
	if (inner)
		template = inner;
	else if (!template)
		template = document;
	if (!json_is(pod_template_container(template), JSON_OBJECT))
		return err_set(err, ERR_INVALID,
			       "no Pod template (expected a Pod with spec.containers)");
	if (pod_template_find(json_get(pod_template_container(template), "env"), "name",
			      "TF_CONFIG"))
		return err_set(err, ERR_INVALID,
			       "it sets TF_CONFIG, which would give all replicas the same "
			       "identity: remove it, muster sets TF_CONFIG for each replica");
	*ret_template = template;
	return 0;
}

/* Drops members of the one Pod that a file may have been copied from. */
static struct json *under_new(const struct json *template)
{
	static const char *const members[] = {"metadata", "spec"};
	static const char *const metadata_members[] = {"labels", "annotations"};
	struct json *under = json_new_object();
	const struct json *metadata = json_get(template, members[0]);

	for (size_t i = 0; i < ARRAY_LEN(metadata_members); i++)
		if (json_get(metadata, metadata_members[i]))
			json_set(json_object_at(under, members[0]), metadata_members[i],
				 json_new_copy(json_get(metadata, metadata_members[i])));
	json_set(under, members[1], json_new_copy(json_get(template, members[1])));
	return under;
}

static void lay_over(const struct json *template, struct json *role)
{
	struct json *under CLEANUP(json_cleanup) = under_new(template);

	json_set(role, "template", pod_template_laid_over(under, json_get(role, "template")));
}

static void set_image(const struct pod_build *build, struct json *container)
{
	json_set_string(container, "image", build->image);
	if (!json_get(container, "image"))
		json_set_string(container, "image", build->default_image);
}

static void add_to_role(const char *title, struct json *role, const struct pod_build *build,
			struct text *faults)
{
	if (build->template)
		lay_over(build->template, role);

	struct json *spec = json_get_path(role, "template", "spec", NULL);
	struct json *container = pod_template_container(json_get(role, "template"));

	set_image(build, container);
	json_set_string(spec, "serviceAccountName", build->service_account);
	json_set_string(spec, "priorityClassName", build->priority);
	pod_flags_add_pull_secrets(&build->image_pull_secrets, spec);
	pod_flags_add_cpu(build->cpu, container, faults);
	pod_flags_add_memory(build->memory, container, faults);
	pod_flags_add_gpu(text_equals(title, "PS") ? NULL : build->gpu, json_get(role, "template"),
			  container, faults);
	pod_flags_add_node_selectors(&build->node_selectors, spec, faults);
	pod_flags_add_tolerations(&build->tolerations, spec, faults);
	pod_flags_add_volumes(&build->volumes, spec, container, faults);
}

static void set_name_space(struct json *document, const char *name_space, struct text *faults)
{
	if (name_space && !name_is_dns_label(name_space))
		text_add_line_once(faults, "--namespace: '%s' is not a valid namespace name",
				   name_space);
	else if (name_space)
		json_set_string(json_object_at(document, "metadata"), "namespace", name_space);
}

void job_document_add_pods(struct json *document, const struct pod_build *build,
			   struct text *faults)
{
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	const char *title;
	struct json *role;

	set_name_space(document, build->name_space, faults);
	for (size_t i = 0; json_member(roles, i, &title, &role); i++)
		add_to_role(title, role, build, faults);
}

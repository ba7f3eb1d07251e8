#include "spec/pod_build.h"

#include "base/mem.h"
#include "base/names.h"
#include "spec/job.h"
#include "spec/pod_template.h"
#include "spec/quantity.h"

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
	const char *kind = json_get_string(document, "kind", NULL);
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
	struct json *under = json_new_object();
	const struct json *metadata = json_get(template, "metadata");

	if (json_get(metadata, "labels") || json_get(metadata, "annotations")) {
		json_copy_member(json_object_at(under, "metadata"), metadata, "labels");
		json_copy_member(json_object_at(under, "metadata"), metadata, "annotations");
	}
	json_copy_member(under, template, "spec");
	return under;
}

/* Options with a syntax of their own: an error is a line of `faults` that names the option. */

/* Sets `requests`; and `limits` if the container has one, or it is to be limited. The option has
 * the resource's name. */
static void add_quantity(const char *resource, const char *quantity, bool is_limited,
			 struct json *container, struct text *faults)
{
	bool is_memory = text_equals(resource, "memory");
	struct err err;

	if (!quantity)
		return;
	if (is_memory ? quantity_check_memory(quantity, &err) : quantity_check(quantity, &err)) {
		text_add_line_once(faults, "--%s: %s", resource, err.text);
		return;
	}

	struct json *resources = json_object_at(container, "resources");

	json_set_string(json_object_at(resources, "requests"), resource, quantity);
	if (is_limited || json_get_path(resources, "limits", resource, NULL))
		json_set_string(json_object_at(resources, "limits"), resource, quantity);
}

/* Cuts off the part after the separator; NULL: there is none. */
static char *cut_off(char *text, char separator)
{
	char *found = text ? strchr(text, separator) : NULL;

	if (found)
		*found++ = '\0';
	return found;
}

/* Devices are whole numbers, and their limit is their request. */
static void add_gpu(const char *gpu, struct json *template, struct json *container,
		    struct text *faults)
{
	if (!gpu)
		return;
	json_remove(json_get_path(template, "metadata", "annotations", NULL), JOB_ANNOTATION_GPUS);
	if (text_equals(gpu, JOB_GPUS_ALL_WORD)) {
		json_set_string(json_object_at(json_object_at(template, "metadata"), "annotations"),
				JOB_ANNOTATION_GPUS, JOB_GPUS_ALL_WORD);
		return;
	}
	if (text_equals(gpu, "none"))
		gpu = "0";
	char *resource CLEANUP(mem_free_text) = mem_copy_text(gpu);
	const char *after = cut_off(resource, '=');
	const char *number = after ? after : gpu;
	int64_t count;

	if (text_read_int(number, 0, JOB_GPUS_MAX, &count, NULL)) {
		text_add_line_once(
			faults,
			"--gpu: '%s' is not a number of GPUs (expected 0 to %d, all or none)",
			number, JOB_GPUS_MAX);
		return;
	}
	if (after && !name_is_qualified(resource)) {
		text_add_line_once(faults,
				   "--gpu: '%s' is not a resource (expected N, or RESOURCE=N, for "
				   "example amd.com/gpu=1)",
				   resource);
		return;
	}
	char *quantity CLEANUP(mem_free_text) = mem_format("%lld", (long long) count);
	struct json *resources = json_object_at(container, "resources");

	json_set_string(json_object_at(resources, "limits"), after ? resource : JOB_GPU_RESOURCE,
			quantity);
}

/* The functions for one value of a list option split it in place; false: it has another form. */

static bool add_node_selector(char *key, struct json *spec, struct json *container)
{
	const char *value = cut_off(key, '=');
	bool is_label = value && name_is_qualified(key) && name_is_label_value(value);

	(void) container;
	if (is_label)
		json_set_string(json_object_at(spec, "nodeSelector"), key, value);
	return is_label;
}

static bool add_toleration(char *key, struct json *spec, struct json *container)
{
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	char *effect = strrchr(key, ':'), *value = cut_off(key, '=');

	(void) container;
	if (effect)
		*effect++ = '\0';
	bool is_any = text_equals(key, "*");

	if ((effect && name_find_word(effects, ARRAY_LEN(effects), effect) < 0) ||
	    (value && (is_any || !name_is_label_value(value))) ||
	    (!is_any && !name_is_qualified(key)))
		return false;
	json_append(json_array_at(spec, "tolerations"),
		    json_new_texts("key", is_any ? NULL : key, "operator",
				   value ? "Equal" : "Exists", "value", value, "effect", effect,
				   NULL));
	return true;
}

/* The volume of a claim, created if the Pod has none yet; its name is borrowed from the spec. */
static const char *volume_of_claim(struct json *spec, const char *claim)
{
	const struct json *volumes = json_get(spec, "volumes");
	struct json *volume = NULL;

	for (size_t i = 0; i < json_count(volumes); i++) {
		volume = json_at(volumes, i);
		if (text_equals(json_as_string(json_get_path(volume, "persistentVolumeClaim",
							     "claimName", NULL),
					       NULL),
				claim))
			return json_get_string(volume, "name", "");
	}
	char *name CLEANUP(mem_free_text) = mem_format("muster-volume-%zu", json_count(volumes));

	volume = pod_template_add(spec, "volumes", name);
	json_set_string(json_object_at(volume, "persistentVolumeClaim"), "claimName", claim);
	return json_get_string(volume, "name", "");
}

static bool add_volume(char *claim, struct json *spec, struct json *container)
{
	char *path = cut_off(claim, ':');
	const char *mode = cut_off(path, ':');
	bool is_read_only = text_equals(mode, "ro");

	if (!path || !name_is_dns_subdomain(claim) || path[0] != '/' || !path[1] ||
	    (mode && !is_read_only && !text_equals(mode, "rw")))
		return false;
	pod_template_add_mount(container, volume_of_claim(spec, claim), path, is_read_only);
	return true;
}

/* All options. */

static void add_each(const struct pod_texts *texts, const char *option, const char *expected,
		     bool (*add)(char *text, struct json *spec, struct json *container),
		     struct json *spec, struct json *container, struct text *faults)
{
	for (size_t i = 0; i < texts->count; i++) {
		char *copy CLEANUP(mem_free_text) = mem_copy_text(texts->list[i]);

		if (!add(copy, spec, container))
			text_add_line_once(faults, "--%s: '%s' is not a %s", option, texts->list[i],
					   expected);
	}
}

static void add_to_role(const char *title, struct json *role, const struct pod_build *build,
			struct text *faults)
{
	if (build->template) {
		struct json *under CLEANUP(json_cleanup) = under_new(build->template);

		json_set(role, "template",
			 pod_template_laid_over(under, json_get(role, "template")));
	}

	struct json *spec = json_get_path(role, "template", "spec", NULL);
	struct json *container = pod_template_container(json_get(role, "template"));
	const struct pod_texts *secrets = &build->image_pull_secrets;

	json_set_string(container, "image", build->image);
	if (!json_get(container, "image"))
		json_set_string(container, "image", build->default_image);
	json_set_string(spec, "serviceAccountName", build->service_account);
	json_set_string(spec, "priorityClassName", build->priority);
	for (size_t i = 0; i < secrets->count; i++)
		if (!pod_template_find(json_get(spec, "imagePullSecrets"), "name",
				       secrets->list[i]))
			(void) pod_template_add(spec, "imagePullSecrets", secrets->list[i]);
	add_quantity("cpu", build->cpu, build->limits_cpu, container, faults);
	add_quantity("memory", build->memory, true, container, faults);
	add_gpu(text_equals(title, "PS") ? NULL : build->gpu, json_get(role, "template"), container,
		faults);
	add_each(&build->node_selectors, "node-selector", "label (expected KEY=VALUE)",
		 add_node_selector, spec, container, faults);
	add_each(&build->tolerations, "toleration",
		 "toleration (expected KEY[=VALUE][:EFFECT] with the effect NoSchedule, "
		 "PreferNoSchedule or NoExecute; '*' tolerates every taint)",
		 add_toleration, spec, container, faults);
	add_each(&build->volumes, "volume",
		 "volume (expected CLAIM:/PATH or CLAIM:/PATH:ro, where CLAIM is a "
		 "PersistentVolumeClaim)",
		 add_volume, spec, container, faults);
}

void job_document_add_pods(struct json *document, const struct pod_build *build,
			   struct text *faults)
{
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	const char *title = NULL;
	struct json *role;

	if (build->name_space && !name_is_dns_label(build->name_space))
		text_add_line_once(faults, "--namespace: '%s' is not a valid namespace name",
				   build->name_space);
	else if (build->name_space)
		json_set_string(json_object_at(document, "metadata"), "namespace",
				build->name_space);
	while (json_next(roles, &title, &role))
		add_to_role(title, role, build, faults);
}

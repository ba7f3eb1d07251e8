/* Reads the options for Pods, one by one. */
#include "spec/pod_flags.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "spec/job.h"
#include "spec/pod_template.h"
#include "spec/quantity.h"

#include <stdbool.h>
#include <string.h>

void pod_flags_add_pull_secrets(const struct pod_texts *names, struct json *spec)
{
	for (size_t i = 0; i < names->count; i++) {
		struct json *secret;

		if (pod_template_find(json_get(spec, "imagePullSecrets"), "name", names->list[i]))
			continue;
		secret = json_new_object();
		json_set_string(secret, "name", names->list[i]);
		json_append(json_array_at(spec, "imagePullSecrets"), secret);
	}
}

/* Sets `requests`; and `limits` if the container has one, or for memory, which is always limited.
 * The option has the resource's name. */
static void add_quantity(const char *resource, const char *quantity, bool is_memory,
			 struct json *container, struct text *faults)
{
	struct err err;

	if (!quantity)
		return;
	if (is_memory ? quantity_check_memory(quantity, &err) : quantity_check(quantity, &err)) {
		text_add_line_once(faults, "--%s: %s", resource, err.text);
		return;
	}

	struct json *resources = json_object_at(container, "resources");

	json_set_string(json_object_at(resources, "requests"), resource, quantity);
	if (is_memory || json_get_path(resources, "limits", resource, NULL))
		json_set_string(json_object_at(resources, "limits"), resource, quantity);
}

void pod_flags_add_cpu(const char *cpu, struct json *container, struct text *faults)
{
	add_quantity("cpu", cpu, false, container, faults);
}

void pod_flags_add_memory(const char *memory, struct json *container, struct text *faults)
{
	add_quantity("memory", memory, true, container, faults);
}

static void set_gpu_limit(struct json *container, const char *resource, const char *quantity)
{
	json_set_string(json_object_at(json_object_at(container, "resources"), "limits"), resource,
			quantity);
}

/* Devices are whole numbers, and their limit is their request. */
void pod_flags_add_gpu(const char *gpu, struct json *template, struct json *container,
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
	char *equals = strchr(resource, '=');
	const char *number = equals ? equals + 1 : gpu;
	int64_t count;

	if (equals)
		*equals = '\0';
	if (text_read_int(number, 0, JOB_GPUS_MAX, &count, NULL)) {
		text_add_line_once(
			faults,
			"--gpu: '%s' is not a number of GPUs (expected 0 to %d, all or none)",
			number, JOB_GPUS_MAX);
		return;
	}
	if (equals && !name_is_qualified(resource)) {
		text_add_line_once(faults,
				   "--gpu: '%s' is not a resource (expected N, or RESOURCE=N, for "
				   "example amd.com/gpu=1)",
				   resource);
		return;
	}
	char *quantity CLEANUP(mem_free_text) = mem_format("%lld", (long long) count);

	set_gpu_limit(container, equals ? resource : JOB_GPU_RESOURCE, quantity);
}

void pod_flags_add_node_selectors(const struct pod_texts *texts, struct json *spec,
				  struct text *faults)
{
	for (size_t i = 0; i < texts->count; i++) {
		char *key CLEANUP(mem_free_text) = mem_copy_text(texts->list[i]);
		char *value = strchr(key, '=');

		if (value)
			*value++ = '\0';
		if (!value || !name_is_qualified(key) || !name_is_label_value(value))
			text_add_line_once(
				faults, "--node-selector: '%s' is not a label (expected KEY=VALUE)",
				texts->list[i]);
		else
			json_set_string(json_object_at(spec, "nodeSelector"), key, value);
	}
}

/* Splits KEY[=VALUE][:EFFECT] in place. False when it has another form. */
static bool split_toleration(char *text, char **ret_value, char **ret_effect)
{
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	char *effect = strrchr(text, ':');
	char *value = strchr(text, '=');

	if (effect)
		*effect++ = '\0';
	if (value)
		*value++ = '\0';
	*ret_value = value;
	*ret_effect = effect;
	if (effect && name_find_word(effects, ARRAY_LEN(effects), effect) < 0)
		return false;
	if (text_equals(text, "*"))
		return !value;
	return name_is_qualified(text) && (!value || name_is_label_value(value));
}

static struct json *toleration_new(const char *key, const char *value, const char *effect)
{
	struct json *toleration = json_new_object();

	if (!text_equals(key, "*"))
		json_set_string(toleration, "key", key);
	json_set_string(toleration, "operator", value ? "Equal" : "Exists");
	json_set_string(toleration, "value", value);
	json_set_string(toleration, "effect", effect);
	return toleration;
}

void pod_flags_add_tolerations(const struct pod_texts *texts, struct json *spec,
			       struct text *faults)
{
	for (size_t i = 0; i < texts->count; i++) {
		char *key CLEANUP(mem_free_text) = mem_copy_text(texts->list[i]);
		char *value, *effect;

		if (!split_toleration(key, &value, &effect))
			text_add_line_once(
				faults,
				"--toleration: '%s' is not a toleration (expected "
				"KEY[=VALUE][:EFFECT] with the effect NoSchedule, PreferNoSchedule "
				"or NoExecute; '*' tolerates every taint)",
				texts->list[i]);
		else
			json_append(json_array_at(spec, "tolerations"),
				    toleration_new(key, value, effect));
	}
}

/* The volume of a claim, created if the Pod has none yet; its name is borrowed from the spec. */
static const char *volume_of_claim(struct json *spec, const char *claim)
{
	struct json *volumes = json_array_at(spec, "volumes");
	struct json *volume = NULL;

	for (size_t i = 0; i < json_count(volumes); i++) {
		volume = json_at(volumes, i);
		if (text_equals(json_as_string(json_get_path(volume, "persistentVolumeClaim",
							     "claimName", NULL),
					       NULL),
				claim))
			return json_as_string(json_get(volume, "name"), "");
	}
	char *name CLEANUP(mem_free_text) = mem_format("muster-volume-%zu", json_count(volumes));

	volume = json_new_object();
	json_set_string(volume, "name", name);
	json_set_string(json_object_at(volume, "persistentVolumeClaim"), "claimName", claim);
	json_append(volumes, volume);
	return json_as_string(json_get(volume, "name"), "");
}

/* Splits CLAIM:/PATH[:ro] in place. False when it has another form. */
static bool split_volume(char *text, char **ret_path, bool *ret_is_read_only)
{
	char *path = strchr(text, ':');
	char *mode = path ? strchr(path + 1, ':') : NULL;

	if (!path)
		return false;
	*path++ = '\0';
	if (mode)
		*mode++ = '\0';
	*ret_path = path;
	*ret_is_read_only = text_equals(mode, "ro");
	return name_is_dns_subdomain(text) && path[0] == '/' && path[1] &&
	       (!mode || text_equals(mode, "ro") || text_equals(mode, "rw"));
}

void pod_flags_add_volumes(const struct pod_texts *texts, struct json *spec, struct json *container,
			   struct text *faults)
{
	for (size_t i = 0; i < texts->count; i++) {
		char *claim CLEANUP(mem_free_text) = mem_copy_text(texts->list[i]);
		struct json *mount;
		bool is_read_only;
		char *path;

		if (!split_volume(claim, &path, &is_read_only)) {
			text_add_line_once(
				faults,
				"--volume: '%s' is not a volume (expected CLAIM:/PATH or "
				"CLAIM:/PATH:ro, where CLAIM is a PersistentVolumeClaim)",
				texts->list[i]);
			continue;
		}
		mount = json_new_object();
		json_set_string(mount, "name", volume_of_claim(spec, claim));
		json_set_string(mount, "mountPath", path);
		if (is_read_only)
			json_set_bool(mount, "readOnly", true);
		json_append(json_array_at(container, "volumeMounts"), mount);
	}
}

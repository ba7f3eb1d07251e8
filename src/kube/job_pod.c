#include "kube/job_pod.h"

#include "base/names.h"
#include "base/text.h"
#include "kube/objects.h"
#include "kube/pod_labels.h"
#include "kube/pod_observed.h"
#include "spec/pod_template.h"

#include <limits.h>

static const char *copy_at(struct arena *arena, const struct json *object, const char *key)
{
	return arena_copy_text(arena, json_as_string(json_get(object, key), NULL));
}

static int restarts_of(const struct json *status, const char *container)
{
	const struct json *list = json_get(status, "containerStatuses");
	const struct json *found = pod_template_find(list, "name", container);
	int64_t count = json_as_integer(json_get(found, "restartCount"), 0);

	return count > 0 && count < INT_MAX ? (int) count : 0;
}

static int64_t pod_version_of(const struct json *metadata)
{
	const char *text = json_as_string(json_get(metadata, "resourceVersion"), "");
	int64_t version;

	return text_read_int(text, 0, INT64_MAX, &version, NULL) < 0 ? 0 : version;
}

struct job_pod *job_pod_read(const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	const struct json *status = json_get(object, "status");
	struct arena *arena = arena_new();
	struct job_pod *pod = arena_take(arena, sizeof(*pod));

	pod->arena = arena;
	if (!name_is_dns_subdomain(json_as_string(json_get(metadata, "name"), NULL)) ||
	    !pod_observed_read(object, arena, &pod->seen)) {
		arena_free(arena);
		return NULL;
	}
	pod->name = copy_at(arena, metadata, "name");
	pod->uid = copy_at(arena, metadata, "uid");
	pod->job_name = arena_copy_text(arena, pod_labels_job(metadata));
	pod->owner_uid = copy_at(arena, objects_owner_of(metadata), "uid");
	pod->ip = copy_at(arena, status, "podIP");
	pod->container = arena_copy_text(arena, pod_observed_container(object));
	pod->n_restarts = restarts_of(status, pod->container);
	pod->version = pod_version_of(metadata);
	return pod;
}

void job_pod_free(struct job_pod *pod)
{
	if (pod)
		arena_free(pod->arena);
}

static bool is_owned_by_job(const struct json *owner, const char *kind, const char *name,
			    const char *job_uid)
{
	if (job_uid)
		return text_equals(json_as_string(json_get(owner, "uid"), NULL), job_uid);
	return text_equals(json_as_string(json_get(owner, "kind"), NULL), kind) &&
	       text_equals(json_as_string(json_get(owner, "name"), NULL), name);
}

static bool is_in_job_of_run(const struct json *metadata, const char *job_name, const char *job_uid)
{
	const struct json *manager =
		json_get_path(metadata, "labels", OBJECTS_LABEL_MANAGED_BY, NULL);
	const struct json *owner = objects_owner_of(metadata);
	char *name CLEANUP(mem_free_text) = objects_owner_name(job_name);

	return text_equals(json_as_string(manager, NULL), OBJECTS_MANAGED_BY) &&
	       ((!job_uid && !owner) || is_owned_by_job(owner, "ConfigMap", name, job_uid));
}

bool job_pod_is_in(const struct json *object, const char *job_name, const char *job_uid)
{
	const struct json *metadata = json_get(object, "metadata");

	return text_equals(pod_labels_job(metadata), job_name) &&
	       (pod_labels_are_of_tfjob(metadata)
			? is_owned_by_job(objects_owner_of(metadata), "TFJob", job_name, job_uid)
			: is_in_job_of_run(metadata, job_name, job_uid));
}

bool job_pod_is_of(const struct job_pod *pod, const char *job_uid, bool is_untouched)
{
	return pod->owner_uid ? text_equals(pod->owner_uid, job_uid) : is_untouched;
}

/* What the mirror of Pods shows: replicas, logs to follow, and what has become of the
 * calls that were made. */
#include "base/text.h"
#include "engine/backend_kube_parts.h"
#include "io/heap.h"
#include "kube/pod_observed.h"

#include <stdlib.h>
#include <string.h>

static void release_pod(void *kept, void *data)
{
	struct pod *pod = kept;

	(void) data;
	arena_free(pod->arena);
	free(pod->uid);
	free(pod);
}

static void *project_pod(const struct json *object, void *before, void *data)
{
	struct kube_backend *backend = data;
	const struct json *metadata = json_get(object, "metadata");
	const char *version = json_as_string(json_get(metadata, "resourceVersion"), "");
	struct pod *pod = mem_new(sizeof(*pod));
	struct pod *old = before;

	backend->has_made_pods = true;
	pod->arena = arena_new();
	pod->uid = mem_copy_text(json_as_string(json_get(metadata, "uid"), ""));
	pod->is_ours = pod_observed_read(object, backend->settings.job, pod->arena, &pod->seen);
	if (pod->is_ours) {
		pod_logs_see(backend->logs, backend->settings.job, object, &pod->seen);
		kube_prerequisites_see_pod(backend, old, pod);
	}
	if (text_read_int(version, 0, INT64_MAX, &pod->version, NULL) < 0)
		pod->version = 0;
	if (old) {
		kube_events_keep(old, pod);
		release_pod(old, NULL);
	}
	return pod;
}

/* The end of the Pod that had the name lets the next one in. */
static void see_end(struct kube_backend *backend, struct pending *pending, const struct pod *pod)
{
	if (pending->ended_uid && !(pod && text_equals(pod->uid, pending->ended_uid)))
		pending_forget_end(pending);
	if (pending->start == PENDING_START_WAITS && !pod)
		kube_backend_start(backend, pending);
}

static void tell_startup(struct kube_backend *backend)
{
	struct startup startup = {0};
	const struct pod *pod;
	size_t place = 0;

	while ((pod = kube_mirror_next(backend->pods, &place)))
		if (pod->is_ours && !observed_was_asked_to_end(&pod->seen))
			startup_add(&startup, &pod->seen);
	if (!backend->settings.on_startup ||
	    memcmp(&startup, &backend->startup, sizeof(startup)) == 0)
		return;
	backend->startup = startup;
	backend->settings.on_startup(&startup, backend->settings.data);
}

static void on_pod(const char *name, void *data)
{
	struct kube_backend *backend = data;
	const struct pod *pod = kube_mirror_get(backend->pods, name);
	struct pending *pending = pending_find(&backend->pending, name);
	bool was_busy = backend->pending.count > 0;

	if (!pod)
		pod_logs_gone(backend->logs, name);
	tell_startup(backend);
	kube_events_see(backend);
	if (pending) {
		see_end(backend, pending, pod);
		if (pending->start != PENDING_START_WAITS &&
		    kube_backend_is_attempt(pod, pending->attempt))
			pending_see_start(pending);
		pending_drop_if_idle(&backend->pending, pending);
	}
	kube_backend_start_waiting(backend);
	if (was_busy && backend->pending.count == 0)
		heap_give_back(); /* all that was begun at once is there */
	kube_backend_news(backend);
}

/* A Pod that was made and is in no list that is newer has been taken away meanwhile. */
static bool is_start_lost(const struct pending *pending, int64_t version)
{
	return pending->start == PENDING_START_CALLED && pending->started_uid &&
	       pending->started_version <= version;
}

/* After a list, which tells nothing of what came and went before it. */
static void forget_lost(struct kube_backend *backend)
{
	int64_t version;

	if (text_read_int(kube_mirror_version(backend->pods), 0, INT64_MAX, &version, NULL) < 0)
		return;
	for (size_t i = backend->pending.count; i-- > 0;) {
		struct pending *pending = backend->pending.entries[i];

		if (kube_mirror_get(backend->pods, pending->pod_name))
			continue;
		if (is_start_lost(pending, version))
			pending_forget_start(pending);
		if (pending->ended_uid && !pending->end_call)
			see_end(backend, pending, NULL);
		pending_drop_if_idle(&backend->pending, pending);
	}
}

static void on_pods_synced(void *data)
{
	struct kube_backend *backend = data;

	backend->knows_pods = true;
	forget_lost(backend);
	kube_backend_start_waiting(backend);
	kube_events_see(backend);
	kube_backend_news(backend);
}

static void on_mirror_trouble(const struct err *err, void *data)
{
	kube_backend_trouble(data, err->text);
}

struct kube_mirror *kube_backend_mirror_new(struct kube_backend *backend, const char *more,
					    struct kube_mirror_settings settings)
{
	char *selector CLEANUP(mem_free_text) = objects_selector(backend->settings.job->name);
	char *narrower CLEANUP(mem_free_text) = mem_format("%s%s", selector, more);

	settings.namespace_name = backend->settings.job->name_space;
	settings.label_selector = narrower;
	settings.on_trouble = on_mirror_trouble;
	settings.data = backend;
	return kube_mirror_new(backend->settings.loop, backend->settings.api, &settings);
}

void kube_backend_make_mirrors(struct kube_backend *backend)
{
	backend->pods = kube_backend_mirror_new(backend, "",
						(struct kube_mirror_settings){
							.resource = &kube_pods,
							.project = project_pod,
							.release = release_pod,
							.on_change = on_pod,
							.on_synced = on_pods_synced,
						});
	kube_prerequisites_watch(backend);
}

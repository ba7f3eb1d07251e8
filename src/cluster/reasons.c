/* Reasons why Pods with a node are not set up there: their volumes, their network. No field of a
 * Pod shows them, only Events do. Events are read while there is such a Pod; without the permission
 * to read them, only the reason is missing. */
#include "base/line_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "cluster/backend_state.h"
#include "kube/mirror_table.h"
#include "kube/pod_warnings.h"

#include <string.h>

#define LONGEST_MESSAGE 300

/* A reason in the Pod itself is more specific. */
static bool is_stuck(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;

	return kube_backend_owns(backend, pod) && seen->phase == OBSERVED_STARTING &&
	       seen->stage == OBSERVED_SCHEDULED && !observed_was_asked_to_end(seen) &&
	       (!seen->reason || pod_warnings_is_reason(seen->reason));
}

static const char *event_text_of(const struct json *event, const char *key)
{
	return json_as_string(json_get(event, key), "");
}

static void set_reason_from_event(struct job_pod *pod, const struct json *event)
{
	const char *message = event_text_of(event, "message");
	size_t len = strcspn(message, "\r\n");

	pod->seen.is_reason_from_elsewhere = true;
	pod->seen.reason = arena_copy_text(pod->arena, event_text_of(event, "reason"));
	if (len > LONGEST_MESSAGE)
		len = line_text_whole_characters(message, LONGEST_MESSAGE);
	pod->seen.message = arena_format(pod->arena, "%.*s", (int) len, message);
}

static bool is_reason_of_event(const struct job_pod *pod, const struct json *event)
{
	const char *message = pod->seen.message;

	return text_equals(pod->seen.reason, event_text_of(event, "reason")) && message &&
	       text_starts_with(event_text_of(event, "message"), message);
}

/* The Pod of this Event; NULL: it is another job's, or it is set up. */
static struct job_pod *pod_of(const struct kube_backend *backend, const struct json *event)
{
	const struct json *about = json_get(event, "involvedObject");
	struct job_pod *pod = job_follower_pod(backend->seen, event_text_of(about, "name"));

	return pod && text_equals(pod->uid, event_text_of(about, "uid")) && is_stuck(backend, pod)
		       ? pod
		       : NULL;
}

/* Takes the newest Event of each Pod. */
static bool apply_pod_events(struct kube_backend *backend, const struct json *const *events,
			     size_t count)
{
	struct mirror_table taken = {0};
	bool is_news = false;

	for (size_t i = 0; i < count; i++) {
		struct job_pod *pod = pod_of(backend, events[i]);

		if (!pod || mirror_table_find(&taken, pod->name))
			continue;
		mirror_table_put(&taken, pod->name)->kept = pod;
		if (is_reason_of_event(pod, events[i]))
			continue;
		set_reason_from_event(pod, events[i]);
		kube_report_pod(backend, NULL, pod);
		is_news = true;
	}
	mirror_table_done(&taken);
	return is_news;
}

bool kube_events_are_wanted(void *data)
{
	const struct kube_backend *backend = data;

	return backend->n_stuck > 0;
}

void kube_events_request(struct kube_backend *backend)
{
	if (backend->n_stuck > 0)
		job_follower_ask_warnings(backend->seen);
}

void kube_events_accept(const struct json *const *events, size_t count, void *data)
{
	struct kube_backend *backend = data;

	kube_events_request(backend);
	if (apply_pod_events(backend, events, count))
		kube_backend_news(backend);
}

/* A known reason of a Pod stays while it is stuck. */
static void carry_over_pod_reason(const struct job_pod *before, struct job_pod *pod)
{
	if (!text_equals(before->uid, pod->uid) || pod->seen.reason || !before->seen.reason ||
	    !pod_warnings_is_reason(before->seen.reason))
		return;
	pod->seen.is_reason_from_elsewhere = true;
	pod->seen.reason = arena_copy_text(pod->arena, before->seen.reason);
	pod->seen.message = arena_copy_text(pod->arena, before->seen.message);
}

void kube_events_observe_pod(struct kube_backend *backend, const struct job_pod *before,
			     struct job_pod *pod)
{
	bool was_stuck = before && is_stuck(backend, before);
	bool is_stuck_now = pod && is_stuck(backend, pod);

	backend->n_stuck += is_stuck_now;
	backend->n_stuck -= was_stuck;
	if (before && is_stuck_now)
		carry_over_pod_reason(before, pod);
}

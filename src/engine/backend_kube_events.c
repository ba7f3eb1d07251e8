/* What holds up Pods that have a node and are not set up there: their volumes, their network. No
 * field of a Pod says so, only Events do. They are read while there is such a Pod, and without the
 * right to read them nothing is missing but the reason. */
#include "base/mem.h"
#include "base/text.h"
#include "core/line_text.h"
#include "engine/backend_kube_state.h"

#include <string.h>

#define LONGEST_MESSAGE 300

/* Of the setting up: what the scheduler said before is over. */
static bool is_of_interest(const char *reason)
{
	static const char *const reasons[] = {"FailedMount", "FailedAttachVolume",
					      "FailedMapVolume", "FailedCreatePodSandBox",
					      "NetworkNotReady"};

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (text_equals(reasons[i], reason))
			return true;
	return false;
}

/* A reason that the Pod itself has is nearer. */
static bool is_stuck(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;

	return kube_backend_owns(backend, pod) && seen->phase == OBSERVED_STARTING &&
	       seen->stage == OBSERVED_SCHEDULED && !observed_was_asked_to_end(seen) &&
	       (!seen->reason || is_of_interest(seen->reason));
}

static const char *word(const struct json *event, const char *key)
{
	return json_as_string(json_get(event, key), "");
}

/* When it was seen last; one that is new has the one time, one that came again the other. */
static msec time_of(const struct json *event)
{
	static const char *const keys[] = {"lastTimestamp", "eventTime"};
	msec time;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (text_read_time(word(event, keys[i]), &time, NULL) == 0)
			return time;
	return 0;
}

/* The newest that says something of a Pod; NULL: none does. */
static const struct json *find_event(const struct json *list, const char *uid)
{
	const struct json *found = NULL;

	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *event = json_at(list, i);
		const struct json *about = json_get(event, "involvedObject");

		if (text_equals(word(about, "uid"), uid) && is_of_interest(word(event, "reason")) &&
		    (!found || time_of(event) >= time_of(found)))
			found = event;
	}
	return found;
}

static void take_event(struct job_pod *pod, const struct json *event)
{
	const char *message = word(event, "message");
	size_t len = strcspn(message, "\r\n");

	pod->seen.is_reason_from_elsewhere = true;
	pod->seen.reason = arena_copy_text(pod->arena, word(event, "reason"));
	if (len > LONGEST_MESSAGE)
		len = line_text_whole_characters(message, LONGEST_MESSAGE);
	pod->seen.message = arena_format(pod->arena, "%.*s", (int) len, message);
}

static bool is_told(const struct job_pod *pod, const struct json *event)
{
	const char *message = pod->seen.message;

	return text_equals(pod->seen.reason, word(event, "reason")) && message &&
	       text_starts_with(word(event, "message"), message);
}

static bool take_events(struct kube_backend *backend, const struct json *list)
{
	bool is_news = false;
	struct job_pod *pod;
	size_t place = 0;

	while ((pod = job_follower_next_pod(backend->seen, &place))) {
		const struct json *event =
			is_stuck(backend, pod) ? find_event(list, pod->uid) : NULL;

		if (!event || is_told(pod, event))
			continue;
		take_event(pod, event);
		kube_tell_pod(backend, NULL, pod);
		is_news = true;
	}
	return is_news;
}

bool kube_events_are_wanted(void *data)
{
	const struct kube_backend *backend = data;

	return backend->n_stuck > 0;
}

void kube_events_see(struct kube_backend *backend)
{
	if (backend->n_stuck > 0)
		job_follower_ask_warnings(backend->seen);
}

void kube_events_take(const struct json *events, void *data)
{
	struct kube_backend *backend = data;

	kube_events_see(backend);
	if (events && take_events(backend, events))
		kube_backend_news(backend);
}

/* What is known of a Pod stays known while it is stuck. */
static void keep_reason(const struct job_pod *before, struct job_pod *pod)
{
	if (!text_equals(before->uid, pod->uid) || pod->seen.reason || !before->seen.reason ||
	    !is_of_interest(before->seen.reason))
		return;
	pod->seen.is_reason_from_elsewhere = true;
	pod->seen.reason = arena_copy_text(pod->arena, before->seen.reason);
	pod->seen.message = arena_copy_text(pod->arena, before->seen.message);
}

void kube_events_see_pod(struct kube_backend *backend, const struct job_pod *before,
			 struct job_pod *pod)
{
	bool was_stuck = before && is_stuck(backend, before);
	bool is_stuck_now = pod && is_stuck(backend, pod);

	backend->n_stuck += is_stuck_now;
	backend->n_stuck -= was_stuck;
	if (before && is_stuck_now)
		keep_reason(before, pod);
}

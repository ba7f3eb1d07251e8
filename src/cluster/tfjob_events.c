#include "cluster/tfjob_events.h"

#include "base/hash.h"
#include "io/log.h"

#include <inttypes.h>

#define COMPONENT "tfjob-controller"
#define MOST_WAITING_SINGLE 500 /* while more wait, Events of all jobs are collected */
#define MOST_WAITING 20000 /* a server that accepts none must not fill the memory */
#define COLLECTING_PAUSE MSEC_PER_SECOND /* without another one; then it is sent, at the latest */
#define LONGEST_COLLECTING (10 * MSEC_PER_SECOND) /* after this */

struct waiting_event {
	struct arena *arena; /* of this struct and its texts */
	struct tfjob_events *events;
	LIST_ENTRY(waiting_event) link;
	struct json *involved; /* the job */
	enum note_level level;
	const char *reason;
	const char *before, *name, *after; /* of several, `name` is the first */
	const char *last_name; /* NULL: there is only one */
	uint64_t key; /* of its name; 0: the server names it */
	uint64_t kind; /* while it collects: what the collected Events have in common */
	int count;
	instant began_at;
	struct loop_watch *timer; /* while it collects; else NULL */
	struct request_slot slot;
	struct kube_call *call;
};

struct tfjob_events {
	struct kube_api *api;
	LIST_HEAD(, waiting_event) collecting, sending;
	size_t n_waiting;
};

static void free_waiting_event(struct waiting_event *event)
{
	LIST_REMOVE(event, link);
	event->events->n_waiting--;
	kube_call_cancel(event->call);
	request_slot_release(&event->slot);
	loop_watch_free(event->timer);
	json_free(event->involved);
	arena_free(event->arena);
}

struct tfjob_events *tfjob_events_new(struct kube_api *api)
{
	struct tfjob_events *events = mem_new(sizeof(*events));

	events->api = api;
	return events;
}

/* Leave the queue first, so that none gets a slot that another one frees. */
void tfjob_events_free(struct tfjob_events *events)
{
	struct waiting_event *event;

	if (!events)
		return;
	LIST_FOREACH (event, &events->sending, link)
		if (!event->slot.is_taken)
			request_slot_release(&event->slot);
	while ((event = LIST_FIRST(&events->collecting)))
		free_waiting_event(event);
	while ((event = LIST_FIRST(&events->sending)))
		free_waiting_event(event);
	free(events);
}

static const char *member(const struct waiting_event *event, const char *key)
{
	return json_get_string(event->involved, key, "");
}

static struct json *body_new(const struct waiting_event *event)
{
	struct json *body = json_new_texts("apiVersion", "v1", "kind", "Event", NULL);
	struct json *metadata = json_object_at(body, "metadata");
	const char *job_name = member(event, "name");
	char *name CLEANUP(mem_free_text) =
		event->key ? mem_format("%s.%016" PRIx64, job_name, event->key)
			   : mem_format("%s.", job_name);
	msec now = loop_now() / MSEC_PER_SECOND * MSEC_PER_SECOND;
	char *message CLEANUP(mem_free_text) =
		event->last_name ? mem_format("%s%s to %s (%d)%s", event->before, event->name,
					      event->last_name, event->count, event->after)
				 : mem_format("%s%s%s", event->before, event->name, event->after);

	json_set_string(metadata, event->key ? "name" : "generateName", name);
	json_set_string(metadata, "namespace", member(event, "namespace"));
	json_set(body, "involvedObject", json_ref(event->involved));
	json_set_string(body, "reason", event->reason);
	json_set_string(body, "message", message);
	json_set_string(body, "type", event->level == NOTE_WARNING ? "Warning" : "Normal");
	json_set_string(json_object_at(body, "source"), "component", COMPONENT);
	json_set_time(body, "firstTimestamp", now);
	json_set_time(body, "lastTimestamp", now);
	json_set_integer(body, "count", event->count);
	return body;
}

static void on_sent(const struct kube_result *result, void *data)
{
	struct waiting_event *event = data;
	const struct err *err = result->err;

	if (err && err->code != ERR_EXISTS)
		log_debug("an Event was rejected: %s", err->text);
	free_waiting_event(event);
}

static void on_slot(void *data)
{
	struct waiting_event *event = data;
	struct json *body CLEANUP(json_cleanup) = body_new(event);
	const struct kube_request request = {KUBE_CREATE, &kube_events, member(event, "namespace"),
					     .body = body, .wants_metadata = true};

	kube_call_start(&event->call, event->events->api, &request, on_sent, event);
}

static void send(struct waiting_event *event)
{
	LIST_INSERT_HEAD(&event->events->sending, event, link);
	if (request_slot_acquire(&event->slot, &event->events->api->limiter, REQUEST_EVENT,
				 member(event, "namespace"), on_slot, event))
		on_slot(event);
}

/* NULL: too many wait. */
static struct waiting_event *event_new(struct tfjob_events *events, const struct job *job,
				       const struct object_event *object)
{
	if (events->n_waiting == MOST_WAITING) {
		log_debug("too many Events are waiting; dropped %s", object->reason);
		return NULL;
	}
	struct arena *arena = arena_new();
	struct waiting_event *event = arena_take(arena, sizeof(*event));

	event->arena = arena;
	event->events = events;
	event->involved =
		json_new_texts("apiVersion", "kubeflow.org/v1", "kind", "TFJob", "namespace",
			       job->name_space, "name", job->name, "uid", job->uid, NULL);
	event->level = object->level;
	event->reason = arena_copy_text(arena, object->reason);
	event->before = arena_copy_text(arena, object->before);
	event->name = arena_copy_text(arena, object->name);
	event->after = arena_format(arena, "%s%s", object->after ? object->after : "",
				    object->detail ? object->detail : "");
	event->count = 1;
	events->n_waiting++;
	return event;
}

static uint64_t key_of(const struct object_event *event)
{
	return hash_add_text(hash_add_text(HASH_BEGIN, event->reason), event->uid);
}

static void on_collected(void *data)
{
	struct waiting_event *event = data;

	loop_watch_free(TAKE(event->timer));
	LIST_REMOVE(event, link);
	send(event);
}

static uint64_t hash_event_kind(const struct job *job, const struct object_event *event)
{
	const char *const texts[] = {job->uid, event->role, event->reason, event->before,
				     event->after ? event->after : ""};
	uint64_t hash = HASH_BEGIN;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		hash = hash_add_text(hash, texts[i]);
	return hash;
}

/* Names of one role differ only in their numbers. */
static bool is_before(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	return a_len != b_len ? a_len < b_len : strcmp(a, b) < 0;
}

static void extend_event_name_range(struct waiting_event *event, const char *name)
{
	const char *last = event->last_name ? event->last_name : event->name;

	if (is_before(name, event->name)) {
		event->last_name = last;
		event->name = arena_copy_text(event->arena, name);
	} else if (is_before(last, name)) {
		event->last_name = arena_copy_text(event->arena, name);
	}
}

static void collect(struct tfjob_events *events, const struct job *job,
		    const struct object_event *object)
{
	uint64_t kind = hash_event_kind(job, object);
	struct waiting_event *event;

	LIST_FOREACH (event, &events->collecting, link)
		if (event->kind == kind)
			break;
	if (event) {
		event->count++;
		event->key ^= key_of(object);
		extend_event_name_range(event, object->name);
	} else {
		event = event_new(events, job, object);
		if (!event)
			return;
		event->key = key_of(object);
		event->kind = kind;
		event->began_at = loop_monotonic_now();
		event->timer = loop_new_timer(events->api->loop, on_collected, event);
		LIST_INSERT_HEAD(&events->collecting, event, link);
	}
	loop_timer_arm(event->timer, instant_min(loop_instant_after(COLLECTING_PAUSE),
						 instant_add(event->began_at, LONGEST_COLLECTING)));
}

void tfjob_events_send(struct tfjob_events *events, const struct job *job, const struct note *note)
{
	const struct object_event object = {
		.level = note->level,
		.reason = note->reason,
		.before = note->sentence,
		.name = "",
	};
	struct waiting_event *event = event_new(events, job, &object);

	if (event)
		send(event);
}

void tfjob_events_send_of(struct tfjob_events *events, const struct job *job,
			  const struct object_event *object)
{
	struct waiting_event *event;

	if (object->role && (job_replica_count(job) > TFJOB_EVENTS_SINGLE ||
			     events->n_waiting > MOST_WAITING_SINGLE)) {
		collect(events, job, object);
		return;
	}
	event = event_new(events, job, object);
	if (!event)
		return;
	event->key = key_of(object);
	send(event);
}

/* Lists, watches and waits as kube/reflection.h decides; stores each object's projection. */
#include "kube/mirror.h"

#include "io/log.h"
#include "io/random.h"
#include "kube/pages.h"

#include <stdio.h>

/* After which the connection of a watch counts as lost: servers send a bookmark each minute. */
#define DEFAULT_SILENCE (150 * MSEC_PER_SECOND)
#define SHORTEST_WATCH 300 /* seconds; each lasts up to twice that, as client-go's */
#define LIST_ENDS "k8s.io/initial-events-end"

static void on_mirror_timer(void *data);

static void arm_mirror_timer(struct kube_mirror *mirror)
{
	loop_timer_arm(mirror->timer, mirror->reflection.wake_at);
}

struct kube_mirror *kube_mirror_new(struct kube_api *api,
				    const struct kube_mirror_settings *settings)
{
	struct kube_mirror *mirror = mem_new(sizeof(*mirror));

	mirror->api = api;
	mirror->settings = *settings;
	mirror->namespace_name = mem_copy_text(settings->namespace_name);
	mirror->label_selector = mem_copy_text(settings->label_selector);
	if (settings->object_name)
		mirror->field_selector = mem_format("metadata.name=%s", settings->object_name);
	mirror->timer = loop_new_timer(api->loop, on_mirror_timer, mirror);
	reflection_begin(&mirror->reflection, loop_monotonic_now());
	arm_mirror_timer(mirror);
	return mirror;
}

static void end_calls(struct kube_mirror *mirror)
{
	kube_call_cancel(TAKE(mirror->call));
	kube_pages_cancel(TAKE(mirror->pages));
	kube_frames_done(&mirror->frames);
}

void kube_mirror_free(struct kube_mirror *mirror)
{
	if (!mirror)
		return;
	end_calls(mirror);
	loop_watch_free(mirror->timer);
	const void *place = NULL;

	for (void *kept; (kept = mirror_table_next(&mirror->table, &place));)
		mirror->settings.release(kept, mirror->settings.data);
	mirror_table_done(&mirror->table);
	free(mirror->namespace_name);
	free(mirror->label_selector);
	free(mirror->field_selector);
	free(mirror->trouble);
	free(mirror);
}

static const char *object_version_of(const struct json *object)
{
	return json_as_string(json_get_path(object, "metadata", "resourceVersion", NULL), "");
}

/* NULL: no name. Caller frees. */
static char *mirrored_name_of(const struct kube_mirror *mirror, const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	const char *name = json_get_string(metadata, "name", NULL);
	const char *namespace_name = json_get_string(metadata, "namespace", NULL);

	if (!name || !namespace_name || !mirror->namespace_name || *mirror->namespace_name)
		return mem_copy_text(name);
	return mem_format("%s/%s", namespace_name, name);
}

static void notify_mirror_progress(const struct kube_mirror *mirror)
{
	if (mirror->settings.on_progress)
		mirror->settings.on_progress(mirror->settings.data);
}

static void store_mirrored_object(struct kube_mirror *mirror, const char *name,
				  const struct json *object)
{
	const struct kube_mirror_settings *settings = &mirror->settings;
	struct mirror_entry *entry = mirror_table_put(&mirror->table, name);

	entry->kept = settings->project(object, entry->kept, settings->data);
	entry->seen = mirror->list_number;
	if (!entry->kept)
		mirror_table_drop(&mirror->table, name);
	mirror->settings.on_change(name, mirror->settings.data);
}

static void drop(struct kube_mirror *mirror, const char *name)
{
	void *kept = mirror_table_get(&mirror->table, name);

	if (!kept) {
		notify_mirror_progress(mirror);
		return;
	}
	mirror->settings.release(kept, mirror->settings.data);
	mirror_table_drop(&mirror->table, name);
	mirror->settings.on_change(name, mirror->settings.data);
}

static void apply_mirrored_object(struct kube_mirror *mirror, const struct json *object,
				  bool is_gone)
{
	char *name CLEANUP(mem_free_text) = mirrored_name_of(mirror, object);

	mirror->is_partial = !mirror->reflection.is_synced;
	if (name && is_gone)
		drop(mirror, name);
	else if (name)
		store_mirrored_object(mirror, name, object);
}

static void end_list(struct kube_mirror *mirror, const char *version)
{
	const struct mirror_entry *next;

	/* Drops the objects missing from the list that just ended. */
	for (const struct mirror_entry *entry = TAILQ_FIRST(&mirror->table.entries); entry;
	     entry = next) {
		bool is_seen = entry->seen == mirror->list_number;
		/* For the callbacks. */
		char *name CLEANUP(mem_free_text) = is_seen ? NULL : mem_copy_text(entry->name);

		next = TAILQ_NEXT(entry, link);
		if (name)
			drop(mirror, name);
	}
	log_debug("%s of namespace %s are cached up to version %s",
		  mirror->settings.resource->plural,
		  mirror->namespace_name ? mirror->namespace_name : "-", version);
	reflection_listed(&mirror->reflection, version, loop_monotonic_now());
	mirror->is_partial = false;
	free(TAKE(mirror->trouble));
	mirror->settings.on_synced(mirror->settings.data);
}

static void end_step(struct kube_mirror *mirror, const struct kube_status *status,
		     const struct err *err)
{
	const struct reflection_end end = {
		.err_code = err ? err->code : 0,
		.status = status ? *status : (struct kube_status){.retry_after = -1},
	};

	instant now = loop_monotonic_now();

	kube_call_cancel(TAKE(mirror->call));
	kube_frames_done(&mirror->frames);
	reflection_ended(&mirror->reflection, &end, now, random_fraction());
	/* An old version or an unsupported streamed list is no error: the next step is due. */
	if (err && mirror->settings.on_trouble &&
	    !instant_has_come(mirror->reflection.wake_at, now) &&
	    text_keep(&mirror->trouble, err->text))
		mirror->settings.on_trouble(err, mirror->settings.data);
	arm_mirror_timer(mirror);
}

void kube_mirror_list_again(struct kube_mirror *mirror)
{
	end_calls(mirror);
	reflection_list_again(&mirror->reflection, loop_monotonic_now());
	arm_mirror_timer(mirror);
}

static struct kube_request mirror_request_of(const struct kube_mirror *mirror, enum kube_verb verb,
					     const struct kube_parameter *parameters)
{
	return (struct kube_request){verb, mirror->settings.resource, mirror->namespace_name,
				     .parameters = parameters};
}

static void apply_mirror_bookmark(struct kube_mirror *mirror, const struct json *object)
{
	const struct json *mark = json_get_path(object, "metadata", "annotations", LIST_ENDS, NULL);

	if (!mirror->reflection.is_synced && text_equals(json_as_string(mark, NULL), "true")) {
		end_list(mirror, object_version_of(object));
		return;
	}
	reflection_observe(&mirror->reflection, object_version_of(object));
	free(TAKE(mirror->trouble));
	notify_mirror_progress(mirror);
}

static void end_by_event(struct kube_mirror *mirror, const struct json *object)
{
	const struct kube_request request = mirror_request_of(mirror, KUBE_WATCH, NULL);
	const char *own = mirror->api->login->namespace_name;
	struct kube_status status;
	struct err err = {0};

	kube_status_of(&request, own, 500, object, &status, &err);
	end_step(mirror, &status, &err);
}

static bool on_mirror_watch_event(const struct kube_event *event, void *data)
{
	struct kube_mirror *mirror = data;

	switch (event->type) {
	case KUBE_BOOKMARK:
		apply_mirror_bookmark(mirror, event->object);
		return true;
	case KUBE_ERROR:
		end_by_event(mirror, event->object);
		return false;
	case KUBE_ADDED:
	case KUBE_MODIFIED:
	case KUBE_DELETED:
		break;
	}
	reflection_observe(&mirror->reflection, object_version_of(event->object));
	free(TAKE(mirror->trouble));
	apply_mirrored_object(mirror, event->object, event->type == KUBE_DELETED);
	return true;
}

static void on_mirror_watch_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_mirror *mirror = data;
	struct err err = {0};

	mirror->frames.has_writers = mirror->settings.resource == &kube_leases;
	if (kube_frames_take(&mirror->frames, bytes, len, on_mirror_watch_event, mirror, &err) < 0)
		end_step(mirror, NULL, &err);
}

static void end_watch(const struct kube_result *result, void *data)
{
	struct kube_mirror *mirror = data;

	end_step(mirror, result->err ? result->status : NULL, result->err);
}

static void begin_watch(struct kube_mirror *mirror)
{
	bool is_stream = mirror->reflection.step == REFLECTION_STREAM;
	msec output_idle = mirror->api->login->timeout;
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%d",
		 SHORTEST_WATCH + (int) (SHORTEST_WATCH * random_fraction()));
	const struct kube_parameter parameters[] = {
		{"allowWatchBookmarks", "true"},
		{"timeoutSeconds", seconds},
		{"sendInitialEvents", is_stream ? "true" : NULL},
		{"resourceVersionMatch", is_stream ? "NotOlderThan" : NULL},
		{"resourceVersion", is_stream ? NULL : mirror->reflection.version},
		{"labelSelector", mirror->label_selector},
		{"fieldSelector", mirror->field_selector},
		{0},
	};
	const struct kube_request request = mirror_request_of(mirror, KUBE_WATCH, parameters);

	kube_stream_start(&mirror->call, mirror->api, &request,
			  output_idle ? output_idle : DEFAULT_SILENCE, on_mirror_watch_bytes,
			  end_watch, mirror);
}

static void on_mirror_list_item(const struct json *item, void *data)
{
	apply_mirrored_object(data, item, false);
}

static void end_pages(const struct kube_result *result, void *data)
{
	struct kube_mirror *mirror = data;

	mirror->pages = NULL;
	if (result->err) {
		end_step(mirror, result->status, result->err);
		return;
	}
	end_list(mirror, object_version_of(result->object));
	arm_mirror_timer(mirror);
}

static void begin_pages(struct kube_mirror *mirror)
{
	const struct kube_parameter parameters[] = {{"labelSelector", mirror->label_selector},
						    {"fieldSelector", mirror->field_selector},
						    {0}};
	const struct kube_request request = mirror_request_of(mirror, KUBE_LIST, parameters);

	mirror->pages =
		kube_pages_new(mirror->api, &request, on_mirror_list_item, end_pages, mirror);
}

static void on_mirror_timer(void *data)
{
	struct kube_mirror *mirror = data;

	reflection_start(&mirror->reflection, loop_monotonic_now());
	if (mirror->reflection.step != REFLECTION_WATCH)
		mirror->list_number++;
	if (mirror->reflection.step == REFLECTION_LIST)
		begin_pages(mirror);
	else
		begin_watch(mirror);
}

/* Waiting for objects, which are stored as a whole. */

struct mirror_wait {
	struct kube_mirror *mirror;
	bool has_limit, is_overdue;
	struct err err;
};

static void *store_whole(const struct json *object, void *before, void *data)
{
	(void) data;
	json_free(before);
	return json_new_copy(object);
}

static void release_whole(void *kept, void *data)
{
	(void) data;
	json_free(kept);
}

static void on_awaited_synced(void *data)
{
	const struct mirror_wait *wait = data;

	loop_stop(wait->mirror->api->loop);
}

static void on_awaited_change(const char *name, void *data)
{
	const struct mirror_wait *wait = data;

	(void) name;
	if (wait->mirror->reflection.is_synced)
		loop_stop(wait->mirror->api->loop);
}

static void on_awaited_trouble(const struct err *err, void *data)
{
	struct mirror_wait *wait = data;
	bool is_hopeless = err->code == ERR_REFUSED || err->code == ERR_INVALID ||
			   (err->code == ERR_UNREACHABLE && !*wait->mirror->reflection.version);

	if (wait->has_limit || !is_hopeless)
		return;
	wait->err = *err;
	loop_stop(wait->mirror->api->loop);
}

static void on_wait_overdue(void *data)
{
	struct mirror_wait *wait = data;

	wait->is_overdue = true;
	loop_stop(wait->mirror->api->loop);
}

int kube_mirror_wait(struct kube_api *api, const struct kube_mirror_settings *about,
		     bool (*is_enough)(const struct kube_mirror *mirror, void *data), void *data,
		     msec limit, struct err *err)
{
	struct mirror_wait wait = {.has_limit = limit != MSEC_NEVER};
	struct kube_mirror_settings settings = *about;
	struct loop_watch *timer = loop_new_timer(api->loop, on_wait_overdue, &wait);
	bool is_over = false;

	settings.project = store_whole;
	settings.release = release_whole;
	settings.on_change = on_awaited_change;
	settings.on_synced = on_awaited_synced;
	settings.on_trouble = on_awaited_trouble;
	settings.data = &wait;
	wait.mirror = kube_mirror_new(api, &settings);
	loop_timer_arm_after(timer, limit);
	while (!is_over && !wait.is_overdue && !wait.err.code) {
		loop_run(api->loop);
		is_over = wait.mirror->reflection.is_synced && is_enough(wait.mirror, data);
	}
	kube_mirror_free(wait.mirror);
	loop_watch_free(timer);
	if (is_over || wait.err.code)
		return is_over ? 0 : err_copy(err, &wait.err);
	return err_set(err, ERR_UNREACHABLE, "waited for %s in vain", about->resource->plural);
}

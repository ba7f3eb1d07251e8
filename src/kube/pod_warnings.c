#include "kube/pod_warnings.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "kube/mirror_table.h"

#include <stdlib.h>

#define PAUSE (10 * MSEC_PER_SECOND)
#define PAUSE_WITHOUT_RIGHT (300 * MSEC_PER_SECOND)
#define MOST_EVENTS "1000"

/* The list of one namespace. */
struct listing {
	struct pod_warnings *warnings;
	char *namespace_name;
	struct loop_watch *timer;
	struct kube_call *call;
	bool is_asked;
};

struct pod_warnings {
	struct pod_warnings_settings settings;
	struct mirror_table listings; /* by namespace */
};

static const struct kube_parameter warnings_of_pods[] = {
	{"fieldSelector", "involvedObject.kind=Pod,type=Warning"},
	{"limit", MOST_EVENTS},
	{NULL, NULL},
};

struct dated {
	msec time;
	const struct json *event;
};

/* Excludes the scheduler's reasons, which are outdated once the Pod has a node. */
bool pod_warnings_is_reason(const char *reason)
{
	static const char *const reasons[] = {"FailedMount", "FailedAttachVolume",
					      "FailedMapVolume", "FailedCreatePodSandBox",
					      "NetworkNotReady"};

	return name_find_word(reasons, ARRAY_LEN(reasons), reason) >= 0;
}

/* When it was last seen; a new Event has eventTime, a repeated one lastTimestamp. */
static msec time_of(const struct json *event)
{
	msec last = json_as_time(json_get(event, "lastTimestamp"));

	return last != MSEC_UNSET ? last : json_as_time(json_get(event, "eventTime"));
}

static int newest_first(const void *a, const void *b)
{
	const struct dated *first = a, *second = b;

	return (first->time < second->time) - (first->time > second->time);
}

static void report_pod_warnings(const struct listing *listing, const struct json *list)
{
	const struct pod_warnings_settings *settings = &listing->warnings->settings;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct dated *dated = arena_take_array(arena, json_count(list), sizeof(*dated));
	const struct json **events = arena_take_array(arena, json_count(list), sizeof(*events));
	size_t count = 0;

	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *event = json_at(list, i);

		if (pod_warnings_is_reason(json_get_string(event, "reason", "")))
			dated[count++] = (struct dated){time_of(event), event};
	}
	if (count > 0)
		qsort(dated, count, sizeof(*dated), newest_first);
	for (size_t i = 0; i < count; i++)
		events[i] = dated[i].event;
	settings->on_listed(listing->namespace_name, events, count, settings->data);
}

static void listing_free(struct listing *listing)
{
	kube_call_cancel(listing->call);
	loop_watch_free(listing->timer);
	free(listing->namespace_name);
	free(listing);
}

static void delete_warnings_listing(struct listing *listing)
{
	mirror_table_drop(&listing->warnings->listings, listing->namespace_name);
	listing_free(listing);
}

static void on_listed(const struct kube_result *result, void *data)
{
	struct listing *listing = data;
	const struct err *err = result->err;

	if (err && err->code == ERR_REFUSED) {
		loop_timer_arm_after(listing->timer, PAUSE_WITHOUT_RIGHT);
		return;
	}
	listing->is_asked = false;
	report_pod_warnings(listing, err ? NULL : json_get(result->object, "items"));
	if (!listing->is_asked)
		delete_warnings_listing(listing);
}

static void list(void *data)
{
	struct listing *listing = data;
	const struct pod_warnings_settings *settings = &listing->warnings->settings;
	const struct kube_request request = {KUBE_LIST, &kube_events, listing->namespace_name,
					     .parameters = warnings_of_pods};

	if (settings->is_wanted(listing->namespace_name, settings->data))
		kube_call_start(&listing->call, settings->api, &request, on_listed, listing);
	else
		delete_warnings_listing(listing);
}

struct pod_warnings *pod_warnings_new(const struct pod_warnings_settings *settings)
{
	struct pod_warnings *warnings = mem_new(sizeof(*warnings));

	warnings->settings = *settings;
	return warnings;
}

void pod_warnings_free(struct pod_warnings *warnings)
{
	struct listing *listing;
	size_t place = 0;

	if (!warnings)
		return;
	while ((listing = mirror_table_next_value(&warnings->listings, &place)))
		listing_free(listing);
	mirror_table_done(&warnings->listings);
	free(warnings);
}

static struct listing *listing_of(struct pod_warnings *warnings, const char *namespace_name)
{
	struct mirror_entry *entry = mirror_table_put(&warnings->listings, namespace_name);
	struct listing *listing = entry->kept;

	if (listing)
		return listing;
	entry->kept = listing = mem_new(sizeof(*listing));
	listing->warnings = warnings;
	listing->namespace_name = mem_copy_text(namespace_name);
	listing->timer = loop_new_timer(warnings->settings.api->loop, list, listing);
	return listing;
}

void pod_warnings_ask(struct pod_warnings *warnings, const char *namespace_name)
{
	struct listing *listing = listing_of(warnings, namespace_name);

	if (listing->is_asked)
		return;
	listing->is_asked = true;
	loop_timer_arm_after(listing->timer, PAUSE);
}

#include "kube/pod_warnings.h"

#include "base/mem.h"
#include "kube/mirror_table.h"
#include "kube/resources.h"

#include <stdlib.h>

#define PAUSE (10 * MSEC_PER_SECOND)
#define MOST_EVENTS "1000"

/* Of one namespace. */
struct listing {
	struct pod_warnings *warnings;
	char *namespace_name;
	struct loop_watch *timer;
	struct kube_call *call;
	bool is_asked; /* for good without the right to */
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

static void on_listed(struct json *list, const struct kube_status *status, const struct err *err,
		      void *data)
{
	struct listing *listing = data;
	const struct pod_warnings_settings *settings = &listing->warnings->settings;

	(void) status;
	listing->call = NULL;
	if (err && err->code == ERR_REFUSED)
		return;
	listing->is_asked = false;
	settings->on_listed(listing->namespace_name, err ? NULL : json_get(list, "items"),
			    settings->data);
}

static void list(void *data)
{
	struct listing *listing = data;
	const struct pod_warnings_settings *settings = &listing->warnings->settings;
	const struct kube_request request = {
		.verb = KUBE_LIST,
		.resource = &kube_events,
		.namespace_name = listing->namespace_name,
		.parameters = warnings_of_pods,
	};

	listing->is_asked = settings->is_wanted(listing->namespace_name, settings->data);
	if (listing->is_asked)
		listing->call = kube_call_new(settings->api, &request, on_listed, listing);
}

struct pod_warnings *pod_warnings_new(const struct pod_warnings_settings *settings)
{
	struct pod_warnings *warnings = mem_new(sizeof(*warnings));

	warnings->settings = *settings;
	return warnings;
}

void pod_warnings_free(struct pod_warnings *warnings)
{
	const struct mirror_entry *entry;
	size_t place = 0;

	if (!warnings)
		return;
	while ((entry = mirror_table_next(&warnings->listings, &place))) {
		struct listing *listing = entry->kept;

		kube_call_cancel(listing->call);
		loop_watch_free(listing->timer);
		free(listing->namespace_name);
		free(listing);
	}
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
	listing->timer = loop_new_timer(warnings->settings.loop, list, listing);
	return listing;
}

void pod_warnings_ask(struct pod_warnings *warnings, const char *namespace_name)
{
	struct listing *listing = listing_of(warnings, namespace_name);

	if (listing->is_asked)
		return;
	listing->is_asked = true;
	loop_timer_arm(listing->timer, loop_now() + PAUSE);
}

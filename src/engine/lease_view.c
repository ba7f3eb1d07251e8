/* A holder is there for as long as it writes anew, by our own clock: a Lease that does not change
 * for its whole duration is nobody's. */
#include "engine/lease_view.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/lease.h"
#include "kube/lease.h"
#include "kube/mirror.h"
#include "kube/objects.h"
#include "kube/resources.h"

#include <stdlib.h>

#define LATENESS (2 * MSEC_PER_SECOND) /* of a holder that is well */

struct lease_view {
	struct lease_view_settings settings;
	struct kube_mirror *mirror;
	struct loop_watch *timer;
	char *supervisor; /* "": nobody */
	bool is_refused; /* Leases may not be read */
};

/* Takes the text over; renewals alone are no change. */
static void set_supervisor(struct lease_view *view, char *take_supervisor)
{
	bool is_new = !text_equals(view->supervisor, take_supervisor);

	mem_free_text(&view->supervisor);
	view->supervisor = take_supervisor;
	if (is_new && lease_view_is_synced(view))
		view->settings.on_change(view->settings.data);
}

static void on_silence(void *data)
{
	set_supervisor(data, mem_copy_text(""));
}

static void arm(struct lease_view *view, const struct json *object)
{
	struct kube_lease lease = {0};
	int rc = kube_lease_read(object, &lease, NULL);
	msec duration = rc == 0 ? lease.record.duration : 0;

	loop_timer_arm(view->timer, loop_now() + duration + LATENESS);
}

static void take_lease(struct lease_view *view, const struct json *object)
{
	char *holder = NULL;

	loop_timer_arm(view->timer, MSEC_NEVER);
	if (object && kube_lease_is_held(object, kube_api_server_now(view->settings.api))) {
		holder = kube_lease_holder(object);
		arm(view, object);
	}
	set_supervisor(view, holder ? holder : mem_copy_text(""));
}

static void *project(const struct json *object, void *before, void *data)
{
	(void) data;
	json_free(before);
	return json_new_copy(object);
}

static void release(void *kept, void *data)
{
	(void) data;
	json_free(kept);
}

static void on_lease(const char *name, void *data)
{
	struct lease_view *view = data;

	take_lease(view, kube_mirror_get(view->mirror, name));
}

static void on_synced(void *data)
{
	struct lease_view *view = data;

	view->is_refused = false;
	view->settings.on_change(view->settings.data);
}

static void on_trouble(const struct err *err, void *data)
{
	struct lease_view *view = data;

	if (err->code != ERR_REFUSED) {
		view->settings.on_trouble(err, view->settings.data);
		return;
	}
	view->is_refused = true;
	view->settings.on_change(view->settings.data);
}

struct lease_view *lease_view_new(const struct lease_view_settings *settings, const char *job_name)
{
	struct lease_view *view = mem_new(sizeof(*view));
	char *name CLEANUP(mem_free_text) = objects_owner_name(job_name);
	const struct kube_mirror_settings mirror = {
		.resource = &kube_leases,
		.namespace_name = settings->namespace_name,
		.object_name = name,
		.project = project,
		.release = release,
		.on_change = on_lease,
		.on_synced = on_synced,
		.on_trouble = on_trouble,
		.data = view,
	};

	view->settings = *settings;
	view->supervisor = mem_copy_text("");
	view->timer = loop_new_timer(settings->loop, on_silence, view);
	view->mirror = kube_mirror_new(settings->loop, settings->api, &mirror);
	return view;
}

void lease_view_free(struct lease_view *view)
{
	if (!view)
		return;
	kube_mirror_free(view->mirror);
	loop_watch_free(view->timer);
	free(view->supervisor);
	free(view);
}

bool lease_view_is_synced(const struct lease_view *view)
{
	return view->is_refused || kube_mirror_is_synced(view->mirror);
}

const char *lease_view_supervisor(const struct lease_view *view)
{
	return view->is_refused ? NULL : view->supervisor;
}

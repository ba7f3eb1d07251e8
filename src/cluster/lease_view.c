/* A holder counts as alive while it renews the Lease, by our own clock: a Lease that does not
 * change for its whole duration has no holder. */
#include "cluster/lease_view.h"

#include "base/mem.h"
#include "base/text.h"
#include "kube/lease.h"
#include "reconcile/lease.h"

#include <stdlib.h>

#define LATENESS (2 * MSEC_PER_SECOND) /* of a healthy holder's renewal */

struct lease_view {
	struct kube_api *api;
	loop_fn on_change;
	void *data;
	struct loop_watch *timer;
	char *supervisor; /* "": none */
	bool is_refused; /* the login may not read Leases */
};

/* Takes the text over; renewals alone are no change. */
static void set_supervisor(struct lease_view *view, char *take_supervisor)
{
	bool is_new = !text_equals(view->supervisor, take_supervisor);

	mem_free_text(&view->supervisor);
	view->supervisor = take_supervisor;
	if (is_new)
		view->on_change(view->data);
}

static void on_silence(void *data)
{
	set_supervisor(data, mem_copy_text(""));
}

static void arm_lease_expiry_timer(struct lease_view *view, const struct json *object)
{
	struct kube_lease lease = {0};
	int rc = kube_lease_read(object, &lease, NULL);
	msec duration = rc == 0 ? lease.record.duration : 0;

	loop_timer_arm_after(view->timer, duration + LATENESS);
}

void lease_view_update(struct lease_view *view, const struct json *object)
{
	char *holder = NULL;

	view->is_refused = false;
	loop_timer_arm(view->timer, INSTANT_NEVER);
	if (object && kube_lease_is_held(object, kube_api_server_now(view->api))) {
		holder = kube_lease_holder(object);
		arm_lease_expiry_timer(view, object);
	}
	set_supervisor(view, holder ? holder : mem_copy_text(""));
}

void lease_view_update_refused(struct lease_view *view)
{
	view->is_refused = true;
}

struct lease_view *lease_view_new(struct kube_api *api, loop_fn on_change, void *data)
{
	struct lease_view *view = mem_new(sizeof(*view));

	view->api = api;
	view->on_change = on_change;
	view->data = data;
	view->supervisor = mem_copy_text("");
	view->timer = loop_new_timer(kube_api_loop(api), on_silence, view);
	return view;
}

void lease_view_free(struct lease_view *view)
{
	if (!view)
		return;
	loop_watch_free(view->timer);
	free(view->supervisor);
	free(view);
}

const char *lease_view_supervisor(const struct lease_view *view)
{
	return view->is_refused ? NULL : view->supervisor;
}

/* The job's Lease: whether we act, only look, or leave.
 *
 * The deadline holds also when this process stood still, in a call of the store, stopped, or with
 * the whole machine: each try of each change asks supervision_kube_may_act, which asks the clock.
 */
#include "base/mem.h"
#include "engine/supervision_kube_parts.h"
#include "kube/lease.h"
#include "kube/resources.h"

#include <stdlib.h>

bool supervision_kube_may_act(const struct cluster_supervision *supervision)
{
	return lease_keeper_standing(supervision->lease) == LEASE_HELD;
}

static bool may_change(const struct kube_request *request, void *data)
{
	const struct cluster_supervision *supervision = data;

	return !supervision->is_fenced || request->resource == &kube_leases ||
	       supervision_kube_may_act(supervision);
}

void supervision_kube_tell_started(struct cluster_supervision *supervision)
{
	if (supervision->started)
		supervision->started(supervision->background);
	supervision->started = NULL;
}

static void say(struct cluster_supervision *supervision, char *take_sentence)
{
	telling_say(&supervision->telling, take_sentence);
	free(take_sentence);
}

static void begin_watching(struct cluster_supervision *supervision)
{
	const char *name = supervision->job->name;
	bool looked_on = supervision->role == ROLE_LOOKS_ON;

	if (supervision->role == ROLE_LAPSED)
		say(supervision, mem_format("job '%s' is watched from here again", name));
	else if (is_attached(supervision))
		say(supervision,
		    mem_format("nobody watche%s job '%s'%s: it is watched from here from now on",
			       looked_on ? "s" : "d", name, looked_on ? " any more" : ""));
	if (!has_watched(supervision)) {
		supervision->role = ROLE_WATCHES;
		supervision_kube_keep_here(supervision);
	}
	supervision->role = ROLE_WATCHES;
}

/* Somebody may take the job over from now on, so nothing is done for it any more. */
static void stop_watching(struct cluster_supervision *supervision)
{
	if (supervision->role != ROLE_WATCHES)
		return;
	supervision->role = ROLE_LAPSED;
	say(supervision,
	    mem_format("the Lease of job '%s' could not be renewed in time: nothing is started or "
		       "ended until it is held again",
		       supervision->job->name));
}

static void leave_to(struct cluster_supervision *supervision, const char *watcher)
{
	struct err err = {0};

	err_set(&err, ERR_CONFLICT, "job '%s' is watched by %s, and is left to it",
		supervision->job->name, watcher ? watcher : "another muster");
	supervision_kube_fail(supervision, &err);
}

/* Whoever is attached without having acted looks on; all others leave. */
static void see_watcher(struct cluster_supervision *supervision)
{
	char *watcher CLEANUP(mem_free_text) = lease_keeper_watcher(supervision->lease);

	if (!is_attached(supervision) || supervision->is_detached || has_watched(supervision)) {
		leave_to(supervision, watcher);
	} else if (supervision->role == ROLE_UNSETTLED) {
		supervision->role = ROLE_LOOKS_ON;
		say(supervision,
		    mem_format("job '%s' is watched by %s: its lines are shown here, and Ctrl-C "
			       "leaves it running",
			       supervision->job->name, watcher ? watcher : "another muster"));
	}
}

/* Whoever made the job was killed before all of it was on the cluster. */
static void see_missing(struct cluster_supervision *supervision)
{
	struct err err = {0};

	err_set(&err, ERR_NOT_FOUND,
		"job '%s' has no Lease, so whoever made it was killed before it was whole: delete "
		"it, and run it again",
		supervision->job->name);
	supervision_kube_fail(supervision, &err);
}

static void on_lease(void *data)
{
	struct cluster_supervision *supervision = data;

	if (supervision->phase == PHASE_CLOSING)
		return;
	if (lease_keeper_is_missing(supervision->lease)) {
		see_missing(supervision);
		return;
	}
	switch (lease_keeper_standing(supervision->lease)) {
	case LEASE_HELD:
		if (supervision->role != ROLE_WATCHES)
			begin_watching(supervision);
		/* Others ask the Lease whether the job is watched. */
		if (lease_keeper_has_seen(supervision->lease))
			supervision_kube_tell_started(supervision);
		break;
	case LEASE_OVERDUE:
		stop_watching(supervision);
		break;
	case LEASE_OTHERS:
		if (supervision->phase != PHASE_LEAVING && supervision->is_recorded)
			see_watcher(supervision);
		break;
	case LEASE_UNSETTLED:
		break;
	}
	supervision_kube_ask_for_pass(supervision);
}

/* What refuses us from the first call on will go on to. */
static void on_lease_trouble(const struct err *err, void *data)
{
	struct cluster_supervision *supervision = data;

	if (err->code == ERR_REFUSED && !lease_keeper_has_seen(supervision->lease))
		supervision_kube_fail(supervision, err);
	else
		telling_say_trouble(&supervision->telling, err->text);
}

int supervision_kube_watch_lease(struct cluster_supervision *supervision, struct err *err)
{
	const struct lease_keeper_settings settings = {
		.loop = supervision->loop,
		.api = supervision->api,
		.job = supervision->job,
		.made_at = supervision->made_at,
		.must_exist = is_attached(supervision) && !supervision->has_begun,
		.on_change = on_lease,
		.on_trouble = on_lease_trouble,
		.data = supervision,
	};
	int rc = lease_keeper_new(&settings, &supervision->lease, err);

	if (rc < 0)
		return rc;
	supervision->is_fenced = true;
	kube_api_set_permit(supervision->api, may_change, supervision);
	kube_api_set_permit(supervision->store_api, may_change, supervision);
	return 0;
}

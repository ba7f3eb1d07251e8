#include "cluster/supervision_state.h"

#include "base/mem.h"

bool supervision_kube_may_act(const struct cluster_supervision *supervision)
{
	return supervision->lease && lease_keeper_standing(supervision->lease) == LEASE_HELD;
}

static bool may_change_cluster(void *data)
{
	const struct cluster_supervision *supervision = data;

	return !supervision->is_fenced || supervision_kube_may_act(supervision);
}

static void begin_watching(struct cluster_supervision *supervision)
{
	const char *name = supervision->base.job->name;
	bool looked_on = supervision->role == ROLE_FOLLOWS;

	if (supervision->role == ROLE_LAPSED)
		reporter_sayf(&supervision->base.reporter, "this muster supervises job '%s' again",
			      name);
	else if (is_attached(supervision))
		reporter_sayf(&supervision->base.reporter,
			      "job '%s' %s; this muster now supervises it", name,
			      looked_on ? "no longer has a supervisor"
					: "had no active supervisor");
	if (!has_supervised(supervision)) {
		supervision->role = ROLE_SUPERVISES;
		supervision_kube_update_record(supervision);
	}
	supervision->role = ROLE_SUPERVISES;
}

/* Another process may take the job over from now on, so this one stops acting for it. */
static void stop_supervising(struct cluster_supervision *supervision)
{
	if (supervision->role != ROLE_SUPERVISES)
		return;
	supervision->role = ROLE_LAPSED;
	reporter_sayf(&supervision->base.reporter,
		      "cannot renew the Lease of job '%s' in time; muster starts and stops nothing "
		      "until it holds the Lease again",
		      supervision->base.job->name);
}

/* A muster process that attached and has not acted yet follows the job; all others leave. */
static void handle_other_supervisor(struct cluster_supervision *supervision)
{
	char *other CLEANUP(mem_free_text) = lease_keeper_supervisor(supervision->lease);
	const char *supervisor = other ? other : "another muster";
	const char *name = supervision->base.job->name;
	struct err err = {0};

	if (!is_attached(supervision) || supervision->is_detached || has_supervised(supervision)) {
		err_set(&err, ERR_CONFLICT,
			"job '%s' is supervised by %s; this muster leaves it alone", name,
			supervisor);
		supervision_kube_fail(supervision, &err);
	} else if (supervision->role == ROLE_UNKNOWN) {
		supervision->role = ROLE_FOLLOWS;
		reporter_sayf(&supervision->base.reporter,
			      "job '%s' is supervised by %s; showing its output (Ctrl-C leaves it "
			      "running)",
			      name, supervisor);
	}
}

/* kubectl created the job from the output of `render`, or the muster process that created it was
 * killed before all objects were on the cluster. */
static void handle_missing_lease(struct cluster_supervision *supervision)
{
	struct err err = {0};

	err_set(&err, ERR_NOT_FOUND,
		"job '%s' has no Lease: kubectl created it, or its muster was killed before it had "
		"created all objects; delete the job, and run it again",
		supervision->base.job->name);
	supervision_kube_fail(supervision, &err);
}

static void on_lease(void *data)
{
	struct cluster_supervision *supervision = data;

	if (supervision->base.phase == SUPERVISION_CLOSING)
		return;
	if (supervision->lease->is_missing) {
		handle_missing_lease(supervision);
		return;
	}
	switch (lease_keeper_standing(supervision->lease)) {
	case LEASE_HELD:
		if (supervision->role != ROLE_SUPERVISES)
			begin_watching(supervision);
		/* Other processes read the Lease to find whether the job is supervised. */
		if (lease_keeper_has_seen(supervision->lease))
			supervision_report_started(&supervision->base);
		break;
	case LEASE_OVERDUE:
		stop_supervising(supervision);
		break;
	case LEASE_OTHERS:
		if (supervision->base.phase != SUPERVISION_LEAVING && supervision->is_recorded)
			handle_other_supervisor(supervision);
		break;
	case LEASE_UNSETTLED:
		break;
	}
	supervision_request_pass(&supervision->base);
}

/* An error that rejects us from the first call on will persist. */
static void on_lease_trouble(const struct err *err, void *data)
{
	struct cluster_supervision *supervision = data;

	if (err->code == ERR_REFUSED && !lease_keeper_has_seen(supervision->lease))
		supervision_kube_fail(supervision, err);
	else
		reporter_print_error(&supervision->base.reporter, err->text);
}

static void begin_fence(struct cluster_supervision *supervision)
{
	supervision->is_fenced = true;
	supervision->api->permit = may_change_cluster;
	supervision->api->permit_data = supervision;
}

void supervision_kube_only_follow(struct cluster_supervision *supervision)
{
	supervision->role = ROLE_FOLLOWS;
	begin_fence(supervision);
	reporter_sayf(&supervision->base.reporter,
		      "job '%s' is a TFJob, which an operator supervises; this command prints its "
		      "output, and Ctrl-C leaves the job running",
		      supervision->base.job->name);
}

int supervision_kube_watch_lease(struct cluster_supervision *supervision, struct err *err)
{
	const struct lease_keeper_settings settings = {
		.api = supervision->api,
		.job = supervision->base.job,
		.made_at = supervision->made_at,
		.must_exist = is_attached(supervision) && !supervision->has_started,
		.on_change = on_lease,
		.on_trouble = on_lease_trouble,
		.data = supervision,
	};
	int rc = lease_keeper_new(&settings, &supervision->lease, err);

	if (rc < 0)
		return rc;
	begin_fence(supervision);
	return 0;
}

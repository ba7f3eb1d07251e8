/* Watches and counts changes. */
#include "cluster/job_view.h"

#include "cluster/backend.h"
#include "cluster/store_record.h"
#include "jobs/client.h"
#include "jobs/record.h"
#include "kube/lease.h"
#include "reconcile/lease.h"
#include "reconcile/status_seen.h"

#define LATENESS (2 * MSEC_PER_SECOND) /* of a healthy holder's renewal of its Lease */

static void wake(void *data)
{
	const struct job_view *view = data;

	if (view->is_waiting)
		loop_stop(view->settings.api->loop);
	else if (view->settings.on_change)
		view->settings.on_change(view->settings.data);
}

/* Pods are watched when the job is known. */
static bool is_synced(const struct job_view *view)
{
	return job_follower_is_synced(view->seen, JOB_CACHE_OWNERS) && view->knows_lease &&
	       (!view->job || job_follower_is_synced(view->seen, JOB_CACHE_PODS));
}

static void note_change_if_synced(void *data)
{
	struct job_view *view = data;

	if (!is_synced(view))
		return;
	view->n_changes++;
	view->is_in_trouble = false;
	wake(view);
}

static void store_viewed_record(struct job_view *view, struct store_record take_record)
{
	bool is_other = view->record && !text_equals(view->record->uid, take_record.uid);

	if (is_other || view->is_gone) {
		view->is_gone = true; /* this view is of the previous job */
		store_record_done(&take_record);
		return;
	}
	store_record_done(&view->stored);
	view->stored = take_record;
	view->record = &view->stored;
	view->record_change = view->n_changes + 1;
}

static void apply_owner_change(struct job_view *view, const struct json *owner)
{
	struct store_record record;
	const struct store_kube_form *form =
		view->settings.is_of_tfjobs ? &store_kube_tfjobs : &store_kube_config_maps;

	if (owner && form->read(owner, &record, NULL) == 0)
		store_viewed_record(view, record);
	else if (view->record)
		view->is_gone = true;
	/* A document that cannot be read is reported when the record is read. */
	if (!view->job && view->record && record_read_job(view->record, &view->job, NULL) == 0)
		job_cache_watch(view->cache, JOB_CACHE_PODS);
	note_change_if_synced(view);
}

/* The Lease. A holder counts as alive while it renews it, by our own clock: a Lease that does not
 * change for its whole duration has no holder. */

/* Takes the text over; renewals alone are no change. */
static void set_supervisor(struct job_view *view, char *take_supervisor)
{
	bool is_new = !text_equals(view->supervisor, take_supervisor);

	mem_free_text(&view->supervisor);
	view->supervisor = take_supervisor;
	if (is_new)
		note_change_if_synced(view);
}

static void on_lease_silence(void *data)
{
	set_supervisor(data, mem_copy_text(""));
}

/* NULL: there is none. */
static void apply_lease_change(struct job_view *view, const struct json *object)
{
	struct kube_lease lease;
	bool is_held =
		kube_lease_read_held(object, kube_api_server_now(view->settings.api), &lease);

	view->is_lease_refused = false;
	loop_timer_arm_after(view->lease_timer,
			     is_held ? lease.record.duration + LATENESS : MSEC_NEVER);
	set_supervisor(view,
		       is_held ? lease_holder_describe(lease.record.holder) : mem_copy_text(""));
}

static void mark_lease_unavailable(struct job_view *view)
{
	view->knows_lease = true;
	view->is_lease_refused = true;
}

/* NULL: it is unknown. */
static const char *supervisor_of(const struct job_view *view)
{
	return view->is_lease_refused ? NULL : view->supervisor;
}

static void on_job_view_change(enum job_cache_kind kind, const char *name, void *data)
{
	struct job_view *view = data;

	if (kind == JOB_CACHE_OWNERS)
		apply_owner_change(view, job_follower_get(view->seen, kind, name));
	else if (kind == JOB_CACHE_LEASES)
		apply_lease_change(view, job_follower_get(view->seen, kind, name));
	else
		note_change_if_synced(view);
}

static void on_job_view_synced(enum job_cache_kind kind, void *data)
{
	struct job_view *view = data;

	view->knows_lease |= kind == JOB_CACHE_LEASES;
	note_change_if_synced(view);
}

static void on_job_view_trouble(enum job_cache_kind kind, const struct err *err, void *data)
{
	struct job_view *view = data;

	if (kind == JOB_CACHE_LEASES && err->code == ERR_REFUSED) {
		mark_lease_unavailable(view);
		note_change_if_synced(view);
	} else if (view->n_changes == 0 || err->code == ERR_REFUSED) {
		/* Before the first sync any trouble is the result. Later, one is reported once. */
		view->err = *err;
		wake(view);
	} else if (view->settings.on_trouble && !view->is_in_trouble) {
		view->is_in_trouble = true;
		view->settings.on_trouble(err->text, view->settings.data);
	}
}

static void watch_viewed_job(struct job_view *view)
{
	const struct job_cache_settings cache = {
		.api = view->settings.api,
		.namespace_name = view->settings.namespace_name,
		.job_name = view->name,
		.is_of_tfjobs = view->settings.is_of_tfjobs,
	};
	const struct job_follower_settings follower = {
		.namespace_name = view->settings.namespace_name,
		.job_name = view->name,
		.on_change = on_job_view_change,
		.on_synced = on_job_view_synced,
		.on_trouble = on_job_view_trouble,
		.data = view,
	};

	view->cache = job_cache_new(&cache);
	view->seen = job_cache_follow(view->cache, &follower);
	job_cache_watch(view->cache, JOB_CACHE_OWNERS);
	if (view->settings.is_of_tfjobs)
		mark_lease_unavailable(
			view); /* no Lease says which operator manages it, if any does */
	else
		job_cache_watch(view->cache, JOB_CACHE_LEASES);
}

struct job_view *job_view_new(const struct job_view_settings *settings, const char *name)
{
	struct job_view *view = mem_new(sizeof(*view));

	view->settings = *settings;
	view->name = mem_copy_text(name);
	view->supervisor = mem_copy_text("");
	view->lease_timer = loop_new_timer(settings->api->loop, on_lease_silence, view);
	watch_viewed_job(view);
	return view;
}

void job_view_free(struct job_view *view)
{
	if (!view)
		return;
	job_follower_free(view->seen);
	job_cache_free(view->cache);
	loop_watch_free(view->lease_timer);
	free(view->supervisor);
	store_record_done(&view->stored);
	job_free(view->job);
	free(view->name);
	free(view);
}

int job_view_wait(struct job_view *view, int64_t change, instant until, struct err *err)
{
	struct loop_watch *timer = loop_new_timer(view->settings.api->loop, wake, view);

	loop_timer_arm(timer, until);
	view->is_waiting = true;
	while (!view->err.code && (view->n_changes <= change || !is_synced(view)) &&
	       !loop_has_come(until))
		loop_run(view->settings.api->loop);
	view->is_waiting = false;
	loop_watch_free(timer);
	return err_copy(err, &view->err);
}

int job_view_sync(struct job_view *view, struct err *err)
{
	return job_view_wait(view, 0, INSTANT_NEVER, err);
}

bool job_view_is_unsupervised(const struct job_view *view)
{
	return text_equals(supervisor_of(view), "");
}

static bool is_its_own(const struct job_view *view, const struct job_pod *pod)
{
	/* `render` and `kubectl apply` create a ConfigMap and Pods without owners. */
	bool has_pods_without_owner =
		!view->settings.is_of_tfjobs && record_is_untouched(view->record);

	return job_pod_is_of(pod, view->record->uid, has_pods_without_owner);
}

size_t job_view_pod_count(const struct job_view *view, bool only_live)
{
	const struct job_pod *pod;
	size_t count = 0;

	for (const void *at = NULL; view->record && (pod = job_follower_next_pod(view->seen, &at));)
		count += is_its_own(view, pod) && (!only_live || observed_is_live(&pod->seen));
	return count;
}

/* Adds the replicas to the status of an untouched job; none of them has been started. Their roles
 * are borrowed from the job. */
static void job_view_add_replicas(const struct job *job, struct arena *arena, struct status *status)
{
	size_t count = (size_t) job_replica_count(job), n = 0;
	struct replica_status *replicas = arena_take_array(arena, count, sizeof(*replicas));

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			replicas[n++] = (struct replica_status){
				.role = job->roles[i].name,
				.index = index,
				.exit_code = -1,
			};
	status->replicas = replicas;
	status->n_replicas = n;
}

void job_view_pod_lay_over(const struct job_pod *pod, struct replica_status *replica)
{
	const struct observed_replica *seen = &pod->seen;

	if (replica->attempt != seen->attempt)
		return;
	replica->pod = pod->name;
	replica->node = seen->node;
	replica->ip = pod->ip;
	replica_see(replica, seen);
}

static void lay_pods_over(const struct job_view *view, struct arena *arena, struct status *status)
{
	const struct replica_places places = replica_places(view->job, status, arena);
	const struct job_pod *pod;

	for (const void *at = NULL; (pod = job_follower_next_pod(view->seen, &at));) {
		struct replica_status *replica =
			replica_find(&places, pod->seen.role, pod->seen.index);

		if (replica && is_its_own(view, pod))
			job_view_pod_lay_over(pod, replica);
	}
}

/* muster's operator writes the state of each replica. */
const char *job_view_operator(const struct job_view *view)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	if (record_is_untouched(view->record))
		return "";
	return record_read_status(view->record, arena, &status, NULL) == 0 && status.n_replicas > 0
		       ? CLIENT_OPERATOR_OURS
		       : CLIENT_OPERATOR_OTHER;
}

int job_view_read(const struct job_view *view, struct json **ret_tfjob, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *tfjob CLEANUP(json_cleanup) = NULL;
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status = {0};
	int rc = record_read_tfjob(view->record, &tfjob, err);

	if (rc == 0)
		rc = record_read_status(view->record, arena, &status, err);
	if (rc < 0)
		return rc;
	/* No supervisor has acted for the job, or training-operator manages it. */
	bool says_no_replicas = view->settings.is_of_tfjobs || record_is_untouched(view->record);

	if (view->job && says_no_replicas && status.n_replicas == 0)
		job_view_add_replicas(view->job, arena, &status);
	if (view->job) /* else its Pods are not watched */
		lay_pods_over(view, arena, &status);
	/* What the record omits because it follows from the rest: addresses, and how many replicas
	 * are in which state. */
	if (!record_is_untouched(view->record) && record_read_job(view->record, &job, NULL) == 0) {
		const struct observed observed = backend_kube_observe_new(job, arena);

		status_see(job, &observed, arena, &status);
	}
	json_set(tfjob, "status", status_write(&status));
	if (view->settings.is_of_tfjobs)
		json_set_string(json_get(tfjob, "status"), CLIENT_SERVED_BY,
				job_view_operator(view));
	else
		json_set_string(json_get(tfjob, "status"), CLIENT_SUPERVISED_BY,
				supervisor_of(view));
	*ret_tfjob = TAKE(tfjob);
	return 0;
}

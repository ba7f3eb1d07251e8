/* What the cache shows of the job: replicas, why they wait, logs to follow, results of calls. */
#include "base/text.h"
#include "cluster/backend_state.h"
#include "io/own_process.h"
#include "kube/mirror_table.h"

/* Reasons why Pods with a node are not set up there: their volumes, their network. No field of a
 * Pod shows them, only Events do. Events are read while there is such a Pod; without the permission
 * to read them, only the reason is missing. */

/* A reason in the Pod itself is more specific. */
static bool is_stuck(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;

	return kube_backend_owns(backend, pod) && seen->phase == OBSERVED_STARTING &&
	       seen->stage == OBSERVED_SCHEDULED && !observed_was_asked_to_end(seen) &&
	       (!seen->reason || job_cache_is_warning(seen->reason));
}

static const char *event_text_of(const struct json *event, const char *key)
{
	return json_get_string(event, key, "");
}

static bool is_reason_of_event(const struct job_pod *pod, const struct json *event)
{
	const char *message = pod->seen.message ? pod->seen.message : "";

	return text_equals(pod->seen.reason, event_text_of(event, "reason")) &&
	       text_starts_with(event_text_of(event, "message"), message);
}

/* The Pod of this Event; NULL: it is another job's, or it is set up. */
static struct job_pod *pod_of(const struct kube_backend *backend, const struct json *event)
{
	const struct json *about = json_get(event, "involvedObject");
	struct job_pod *pod = job_follower_pod(backend->seen, event_text_of(about, "name"));

	return pod && text_equals(pod->uid, event_text_of(about, "uid")) && is_stuck(backend, pod)
		       ? pod
		       : NULL;
}

/* Takes the newest Event of each Pod. */
static bool apply_pod_events(struct kube_backend *backend, const struct json *const *events,
			     size_t count)
{
	struct mirror_table taken = {0};
	bool is_news = false;

	for (size_t i = 0; i < count; i++) {
		struct job_pod *pod = pod_of(backend, events[i]);

		if (!pod || mirror_table_get(&taken, pod->name))
			continue;
		mirror_table_put(&taken, pod->name)->kept = pod;
		if (is_reason_of_event(pod, events[i]))
			continue;
		job_pod_set_reason(pod, event_text_of(events[i], "reason"),
				   event_text_of(events[i], "message"));
		kube_report_pod(backend, NULL, pod);
		is_news = true;
	}
	mirror_table_done(&taken);
	return is_news;
}

static bool wants_events(void *data)
{
	const struct kube_backend *backend = data;

	return backend->n_stuck > 0;
}

/* If a Pod needs them. */
static void request_events(struct kube_backend *backend)
{
	if (backend->n_stuck > 0)
		job_follower_ask_warnings(backend->seen);
}

static void accept_events(const struct json *const *events, size_t count, void *data)
{
	struct kube_backend *backend = data;

	request_events(backend);
	if (apply_pod_events(backend, events, count))
		kube_backend_news(backend);
}

static void count_stuck_pod(struct kube_backend *backend, const struct job_pod *before,
			    struct job_pod *pod)
{
	bool was_stuck = before && is_stuck(backend, before);
	bool is_stuck_now = pod && is_stuck(backend, pod);

	backend->n_stuck += is_stuck_now;
	backend->n_stuck -= was_stuck;
	/* A known reason of a Pod stays while it is stuck. */
	if (before && is_stuck_now && text_equals(before->uid, pod->uid) && !pod->seen.reason &&
	    before->seen.reason && job_cache_is_warning(before->seen.reason))
		job_pod_set_reason(pod, before->seen.reason, before->seen.message);
}

/* Counts only Pods that the job owns and that are not being deleted. */
static void count_startup(struct kube_backend *backend, const struct job_pod *pod, int change)
{
	if (pod && kube_backend_owns(backend, pod) && !observed_was_asked_to_end(&pod->seen))
		startup_add(&backend->startup, &pod->seen, change);
}

static void apply_pod_change(const struct job_pod *before, struct job_pod *pod, void *data)
{
	struct kube_backend *backend = data;

	count_startup(backend, before, -1);
	count_startup(backend, pod, 1);
	count_stuck_pod(backend, before, pod);
	if (!pod)
		return;
	backend->has_made_pods = true;
	if (!kube_backend_owns(backend, pod))
		return;
	kube_report_pod(backend, before, pod);
	if (backend->logs)
		pod_logs_update(backend->logs, pod);
	kube_prerequisites_observe_pod(backend, before, pod);
}

/* If the Pod is shown before its call is answered, it succeeded; the answer does not matter. */
static void confirm_observed_start(struct kube_backend *backend, struct pending *pending,
				   const struct job_pod *pod)
{
	if (pending->start != PENDING_NO_START)
		kube_backend_report_started(backend, pending, pod->uid);
	if (pending->start_call)
		kube_backend_admit(backend, &backend->starts);
	kube_call_let_go(TAKE(pending->start_call)); /* only the server's warnings are missing */
	pending_drop_start(pending);
}

/* The deletion of the previous Pod frees the name. It may be seen before the answer to its call,
 * which then succeeded. */
static void confirm_observed_end(struct kube_backend *backend, struct pending *pending,
				 const struct job_pod *pod)
{
	if (pending->ended_uid && !(pod && text_equals(pod->uid, pending->ended_uid))) {
		if (pending->end_call) {
			kube_backend_report_ended(backend, pending);
			kube_backend_admit(backend, &backend->ends);
		}
		pending_drop_end(pending);
	}
	if (pending->start == PENDING_START_WAITS && !pod)
		kube_backend_start(backend, pending);
}

/* For a start that waits: the Pod with its name may be another one, which is being deleted, or its
 * own, created by a call whose answer was lost. */
static bool is_its_own(const struct kube_backend *backend, const struct pending *pending,
		       const struct job_pod *pod)
{
	bool is_terminating =
		text_equals(pod->uid, pending->ended_uid) || observed_was_asked_to_end(&pod->seen);

	return kube_backend_is_attempt(backend, pod, pending->attempt) &&
	       (pending->start != PENDING_START_WAITS || !is_terminating);
}

static void report_startup_progress(struct kube_backend *backend)
{
	if (!backend->settings.on_startup ||
	    memcmp(&backend->startup, &backend->told_startup, sizeof(backend->startup)) == 0)
		return;
	backend->told_startup = backend->startup;
	backend->settings.on_startup(&backend->startup, backend->settings.data);
}

static void on_backend_pod_change(struct kube_backend *backend, const char *name)
{
	const struct job_pod *pod = job_follower_pod(backend->seen, name);
	struct pending *pending = mirror_table_get(&backend->pending, name);
	bool was_busy = backend->pending.count > 0;

	if (!pod)
		pod_logs_gone(backend->logs, name);
	report_startup_progress(backend);
	request_events(backend);
	if (pending) {
		confirm_observed_end(backend, pending, pod);
		if (pod && is_its_own(backend, pending, pod))
			confirm_observed_start(backend, pending, pod);
		kube_backend_drop_lost(backend, pending);
		pending_drop_if_idle(&backend->pending, pending);
	}
	if (was_busy && backend->pending.count == 0)
		heap_give_back(); /* all Pods that were started together exist */
	kube_backend_news(backend);
}

static void on_backend_object_change(enum job_cache_kind kind, const char *name, void *data)
{
	struct kube_backend *backend = data;

	if (kind == JOB_CACHE_PODS)
		on_backend_pod_change(backend, name);
	else
		kube_prerequisites_observe(backend, kind, name);
}

/* After a list, which does not report what was created and deleted before it. */
static void confirm_absent_pods(struct kube_backend *backend)
{
	const void *at = NULL;
	struct pending *next = mirror_table_next(&backend->pending, &at);

	for (struct pending *pending; (pending = next);) {
		next = mirror_table_next(&backend->pending, &at); /* this one may be dropped */
		if (job_follower_pod(backend->seen, pending->pod_name))
			continue;
		kube_backend_drop_lost(backend, pending);
		if (!pending->end_call)
			confirm_observed_end(backend, pending, NULL);
		else if (pending->start == PENDING_START_WAITS)
			kube_backend_start(backend, pending);
		pending_drop_if_idle(&backend->pending, pending);
	}
}

static void on_backend_watch_synced(enum job_cache_kind kind, void *data)
{
	struct kube_backend *backend = data;

	backend->knows[kind] = true;
	if (kind == JOB_CACHE_PODS) {
		confirm_absent_pods(backend);
		request_events(backend);
	} else {
		kube_prerequisites_drop_lost(backend);
	}
	kube_backend_news(backend);
}

/* No event reports what was created and deleted in a gap of the watch. */
static void on_backend_watch_progress(enum job_cache_kind kind, void *data)
{
	struct kube_backend *backend = data;
	size_t count = backend->pending.count;

	if (kind != JOB_CACHE_PODS) {
		kube_prerequisites_drop_lost(backend);
		return;
	}
	const void *at = NULL;
	struct pending *next = mirror_table_next(&backend->pending, &at);

	for (struct pending *pending; (pending = next);) {
		next = mirror_table_next(&backend->pending, &at);
		kube_backend_drop_lost(backend, pending);
		pending_drop_if_idle(&backend->pending, pending);
	}
	if (backend->pending.count < count)
		kube_backend_news(backend);
}

static void on_backend_watch_trouble(enum job_cache_kind kind, const struct err *err, void *data)
{
	if (kind == JOB_CACHE_PODS || kube_prerequisites_resource(data, kind))
		kube_backend_trouble(data, err);
}

static void watch_backend_objects(struct kube_backend *backend)
{
	for (int i = 0; i < JOB_CACHE_KIND_COUNT; i++) {
		enum job_cache_kind kind = (enum job_cache_kind) i;

		bool is_read = backend->kind->reads(backend, kind);

		if (is_read)
			job_cache_watch(backend->settings.cache, kind);
		/* What existed before this process started is not reported again. */
		backend->knows[kind] = !is_read || job_follower_is_synced(backend->seen, kind);
	}
}

/* Events for what was created while no operator ran. Those of a large job would be repeated. */
static void report_existing_pods(const struct kube_backend *backend)
{
	const struct job_pod *pod;
	const void *place = NULL;

	if (job_replica_count(backend->settings.job) > TFJOB_EVENTS_SINGLE)
		return;
	while ((pod = job_follower_next_pod(backend->seen, &place)))
		kube_report_pod(backend, NULL, pod);
}

void kube_backend_follow(struct kube_backend *backend)
{
	const struct job_follower_settings settings = {
		.namespace_name = backend->settings.job->name_space,
		.job_name = backend->settings.job->name,
		.on_pod = apply_pod_change,
		.on_change = on_backend_object_change,
		.on_synced = on_backend_watch_synced,
		.on_progress = on_backend_watch_progress,
		.wants_warnings = wants_events,
		.on_warnings = accept_events,
		.on_trouble = on_backend_watch_trouble,
		.data = backend,
	};

	backend->seen = job_cache_follow(backend->settings.cache, &settings);
	watch_backend_objects(backend);
	report_existing_pods(backend);
}

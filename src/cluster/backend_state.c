#include "cluster/backend_state.h"

#include "base/backoff.h"
#include "io/random.h"

#define FIRST_PAUSE MSEC_PER_SECOND
#define LONGEST_PAUSE (30 * MSEC_PER_SECOND)

bool kube_backend_owns(const struct kube_backend *backend, const struct job_pod *pod)
{
	return job_pod_is_of(pod, backend->settings.job->uid, false);
}

bool kube_backend_is_attempt(const struct kube_backend *backend, const struct job_pod *pod,
			     int attempt)
{
	return pod && kube_backend_owns(backend, pod) && pod->seen.attempt == attempt;
}

bool kube_backend_is_collected(const struct job_pod *pod)
{
	return pod->owner_uid;
}

void kube_backend_news(const struct kube_backend *backend)
{
	if (backend_kube_is_ready(&backend->base))
		backend->settings.on_news(backend->settings.data);
}

void kube_backend_trouble(struct kube_backend *backend, const struct err *err)
{
	if (text_keep(&backend->last_trouble, err->text) && backend->settings.on_trouble)
		backend->settings.on_trouble(err, backend->settings.data);
}

void kube_backend_report_earlier_pods(struct kube_backend *backend)
{
	const struct err earlier = {
		.code = ERR_EXISTS,
		.text = "waiting for the Pods of an earlier job of this name",
	};

	kube_backend_trouble(backend, &earlier);
}

bool kube_backend_has_observed(const struct kube_backend *backend)
{
	for (int kind = 0; kind < JOB_CACHE_KIND_COUNT; kind++)
		if (!backend->knows[kind])
			return false;
	return true;
}

/* While a list is read, existing objects may seem missing, and exits out of order. */
static bool is_listing(const struct kube_backend *backend)
{
	for (int i = 0; i < JOB_CACHE_KIND_COUNT; i++) {
		enum job_cache_kind kind = (enum job_cache_kind) i;

		if (backend->kind->reads(backend, kind) &&
		    !job_follower_is_whole(backend->seen, kind))
			return true;
	}
	return false;
}

bool backend_kube_is_ready(const struct backend *base)
{
	const struct kube_backend *backend = (const struct kube_backend *) base;

	return (backend->settings.is_new || kube_backend_has_observed(backend)) &&
	       !is_listing(backend);
}

int64_t kube_backend_version_of(const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	const char *text = json_get_string(metadata, "resourceVersion", "");
	int64_t version;

	return text_read_int(text, 0, INT64_MAX, &version, NULL) < 0 ? 0 : version;
}

bool kube_backend_would_show(const struct kube_backend *backend, enum job_cache_kind kind,
			     int64_t version)
{
	const char *text = job_cache_version(backend->settings.cache, kind);
	int64_t shown;

	return text_read_int(text, 0, INT64_MAX, &shown, NULL) == 0 && version <= shown;
}

void kube_backend_drop_lost(struct kube_backend *backend, struct pending *pending)
{
	if (pending->start == PENDING_START_CALLED && pending->started_uid &&
	    !job_follower_pod(backend->seen, pending->pod_name) &&
	    kube_backend_would_show(backend, JOB_CACHE_PODS, pending->started_version))
		pending_drop_start(pending);
}

bool kube_backend_is_live(const struct kube_backend *backend, const struct pending *pending)
{
	const struct job_pod *pod = job_follower_pod(backend->seen, pending->pod_name);

	return pod && text_equals(pod->uid, pending->ended_uid) && observed_is_live(&pod->seen);
}

bool kube_backend_is_waited_for(const struct kube_backend *backend, const struct pending *pending)
{
	return pending->is_held && !pending->is_deaf && kube_backend_is_live(backend, pending) &&
	       !loop_has_come(pending->held_until);
}

bool kube_backend_is_read(const struct kube_backend *backend, const char *pod_name, const char *uid)
{
	return pod_logs_is_open(backend->logs, pod_name, uid) ||
	       pod_tail_is_open(&backend->tail, uid);
}

bool prerequisite_is_called(const struct prerequisite *prerequisite)
{
	return prerequisite->call || prerequisite->slot.limiter;
}

static instant start_due_at(const struct kube_backend *backend, const struct pending *pending)
{
	if (pending->start != PENDING_START_REFUSED)
		return INSTANT_NEVER;
	return circuit_breaker_is_open(&backend->starts)
		       ? instant_max(backend->starts.again_at, pending->again_at)
		       : pending->again_at;
}

static instant end_due_at(const struct kube_backend *backend, const struct pending *pending)
{
	if (pending->is_end_put_off)
		return backend->ends.again_at;
	return kube_backend_is_waited_for(backend, pending)
		       ? instant_min(pending->held_until, pending->tell_at)
		       : INSTANT_NEVER;
}

void kube_backend_wake(struct kube_backend *backend)
{
	const struct pending *pending;
	instant soonest = INSTANT_NEVER;

	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		const struct prerequisite *prerequisite = backend->prerequisites[i];

		if (prerequisite->is_refused && !prerequisite_is_called(prerequisite))
			soonest = instant_min(soonest, prerequisite->again_at);
	}
	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));) {
		soonest = instant_min(soonest, start_due_at(backend, pending));
		soonest = instant_min(soonest, end_due_at(backend, pending));
	}
	loop_timer_arm(backend->timer, soonest);
}

instant kube_backend_next_try(int n_refusals)
{
	msec pause = backoff_pause(FIRST_PAUSE, LONGEST_PAUSE, n_refusals + 1);

	return loop_instant_after(backoff_spread(pause, 0.5, random_fraction()));
}

bool circuit_breaker_is_open(const struct circuit_breaker *breaker)
{
	return breaker->n_refusals > 0;
}

void circuit_breaker_reset(struct circuit_breaker *breaker)
{
	free(breaker->why);
	*breaker = (struct circuit_breaker){0};
}

void kube_backend_admit(struct kube_backend *backend, struct circuit_breaker *breaker)
{
	if (!circuit_breaker_is_open(breaker))
		return;
	circuit_breaker_reset(breaker);
	kube_backend_wake(backend);
}

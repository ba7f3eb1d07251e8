/* The calls of the back end for Kubernetes: creations, deletions, and retries.
 *
 * A call that fails does not fail a replica: quotas are raised, permissions are granted, servers
 * recover. It is tried again with growing pauses for as long as the job wants it, as a Kubernetes
 * Job does; only the job's deadline stops that. A Pod that no server would accept ends the job. */
#include "base/exit_code.h"
#include "base/text.h"
#include "cluster/backend_state.h"

#include <stdlib.h>

/* Pause between a signal that was not delivered and the next one. */
#define TELLING_PAUSE (2 * MSEC_PER_SECOND)

/* A permission that was missing from the beginning must be granted before the job is started again;
 * a lost one may be restored, as a quota is raised. */
static bool is_final(const struct kube_backend *backend, const struct kube_status *status,
		     const struct err *err)
{
	if (status->refusal == KUBE_REFUSED_RIGHT)
		return !backend->has_made_pods && !backend->kind->awaits_rights;
	return status->refusal == KUBE_REFUSED_FOR_EVER || err->code == ERR_INVALID;
}

static const char *refusal_reason_of(const struct kube_status *status)
{
	if (status->refusal == KUBE_REFUSED_RIGHT)
		return "Forbidden";
	return status->refusal == KUBE_REFUSED_QUOTA ? "ExceededQuota" : "FailedCreate";
}

/* Calls that were made at the same time are rejected together. */
static void trip(struct circuit_breaker *breaker, const char *word, const char *why)
{
	breaker->word = word;
	(void) text_keep(&breaker->why, why);
	if (!circuit_breaker_is_open(breaker))
		breaker->again_at = kube_backend_next_try(breaker->n_refusals++);
}

static bool is_any_refused(const struct kube_backend *backend, const char *word)
{
	const struct pending *pending;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));)
		if (pending->n_refusals > 0 && text_equals(pending->refusal_reason, word))
			return true;
	return false;
}

static void store_pending_refusal(struct pending *pending, const char *word, const char *why)
{
	pending->refusal_reason = word;
	(void) text_keep(&pending->refusal, why);
}

static void handle_pod_refused(struct kube_backend *backend, struct pending *pending,
			       const struct kube_status *status, const struct err *err)
{
	const char *reason = refusal_reason_of(status);

	/* Of several that are rejected alike, only the first is reported. A Pod that already exists
	 * may be the job's own, from a lost answer: then it is seen before the next try. */
	if (err->code == ERR_EXISTS ? pending->n_refusals == 1 : !is_any_refused(backend, reason))
		kube_report_not_created(backend, &kube_pods, err);
	pending->start =
		is_final(backend, status, err) ? PENDING_START_IMPOSSIBLE : PENDING_START_REFUSED;
	store_pending_refusal(pending, reason, kube_refusal_why(err->text));
	pending->again_at = loop_monotonic_now();
	pending->asks_for_all = false;
	if (err->code == ERR_EXISTS) /* of this name alone */
		pending->again_at = kube_backend_next_try(pending->n_refusals);
	else if (pending->start == PENDING_START_REFUSED)
		trip(&backend->starts, pending->refusal_reason, pending->refusal);
	pending->n_refusals++;
	kube_backend_wake(backend);
}

void kube_backend_report_started(struct kube_backend *backend, struct pending *pending,
				 const char *uid)
{
	if (pending->is_start_told)
		return;
	pending->is_start_told = true;
	kube_report_restart_policy(backend, job_role(backend->job, pending->role));
	kube_report_created(backend, &kube_pods, pending->pod_name, pending->role, uid);
}

/* A rejected start is dropped; a created Pod has to be deleted. */
void kube_backend_cancel_start(struct kube_backend *backend, struct pending *pending)
{
	char *uid CLEANUP(mem_free_text) = TAKE(pending->started_uid);

	pending_drop_start(pending);
	if (uid && !pending->ended_uid) {
		pending->ended_uid = TAKE(uid);
		kube_backend_delete_pod(backend, pending);
	} else {
		pending_drop_if_idle(&backend->pending, pending);
	}
}

static void on_started(const struct kube_result *result, void *data)
{
	struct pending *pending = data;
	const struct err *err = result->err;
	struct kube_backend *backend = pending->backend;

	request_slot_release(&pending->start_slot);
	backend->has_made_pods |= !err;
	if (err && err->code == ERR_EXISTS)
		kube_backend_report_earlier_pods(backend);
	if (err) {
		handle_pod_refused(backend, pending, result->status, err);
	} else {
		const struct json *uid = json_get_path(result->object, "metadata", "uid", NULL);

		pending->started_uid = mem_copy_text(json_as_string(uid, NULL));
		pending->started_version = kube_backend_version_of(result->object);
		kube_backend_report_started(backend, pending, pending->started_uid);
		kube_backend_admit(backend, &backend->starts);
	}
	if (pending->is_unwanted) {
		kube_backend_cancel_start(backend, pending);
	} else {
		kube_backend_drop_lost(backend, pending);
		pending_drop_if_idle(&backend->pending, pending);
	}
	kube_backend_news(backend);
}

/* The name is in use for now. */
static bool is_name_taken(const struct kube_backend *backend, const struct pending *pending)
{
	const struct job_pod *pod = job_follower_pod(backend->seen, pending->pod_name);

	return pod && kube_backend_is_collected(pod);
}

/* The name may have been taken while the start waited for its slot. */
static void on_pod_start_slot(void *data)
{
	struct pending *pending = data;
	struct kube_backend *backend = pending->backend;

	if (is_name_taken(backend, pending))
		request_slot_release(&pending->start_slot);
	else
		kube_backend_start(backend, pending);
}

void kube_backend_start(struct kube_backend *backend, struct pending *pending)
{
	const struct role *role = job_role(backend->job, pending->role);

	if (!role) { /* the job no longer has this role */
		pending_drop_start(pending);
		return;
	}
	if (circuit_breaker_is_open(&backend->starts) && !pending->asks_for_all) {
		/* Similar calls were rejected: it waits with them. */
		request_slot_release(&pending->start_slot);
		pending->start = PENDING_START_REFUSED;
		store_pending_refusal(pending, backend->starts.word, backend->starts.why);
		kube_backend_wake(backend);
		return;
	}
	pending->start = PENDING_START_WAITS;
	if (!request_slot_acquire(&pending->start_slot, &backend->settings.api->limiter,
				  REQUEST_CHANGE, backend->job->name_space, on_pod_start_slot,
				  pending))
		return;
	struct json *pod CLEANUP(json_cleanup) =
		backend->kind->pod_new(backend, role, pending->index, pending->attempt);
	const struct kube_request request = {KUBE_CREATE, &kube_pods, backend->job->name_space,
					     .body = pod, .wants_metadata = true};

	pending->start = PENDING_START_CALLED;
	kube_call_start(&pending->start_call, backend->settings.api, &request, on_started, pending);
}

void kube_backend_report_ended(struct kube_backend *backend, struct pending *pending)
{
	if (pending->is_end_told)
		return;
	pending->is_end_told = true;
	kube_report_deleted(backend, &kube_pods, pending->pod_name, pending->role,
			    pending->ended_uid);
}

static void postpone_pod_end(struct kube_backend *backend, struct pending *pending)
{
	request_slot_release(&pending->end_slot);
	pending->is_end_put_off = true;
	pending->end_asks_for_all = false;
	kube_backend_wake(backend);
}

static void on_pod_deleted(const struct kube_result *result, void *data)
{
	struct pending *pending = data;
	const struct err *err = result->err;
	struct kube_backend *backend = pending->backend;

	request_slot_release(&pending->end_slot);
	if (!err)
		kube_backend_report_ended(backend, pending);
	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
		kube_report_not_deleted(backend, &kube_pods, err);
		kube_backend_trouble(backend, err);
		trip(&backend->ends, NULL, NULL);
		pending->end_refused_at = loop_monotonic_now();
		postpone_pod_end(backend, pending);
		return;
	}
	kube_backend_admit(backend, &backend->ends);
	if (err && !job_follower_pod(backend->seen, pending->pod_name)) {
		pending_drop_end(pending);
		pending_drop_if_idle(&backend->pending, pending);
	}
	kube_backend_news(backend);
}

static void on_pod_end_slot(void *data)
{
	struct pending *pending = data;

	kube_backend_delete_pod(pending->backend, pending);
}

void kube_backend_delete_pod(struct kube_backend *backend, struct pending *pending)
{
	pending->end_waits = false;
	if (circuit_breaker_is_open(&backend->ends) && !pending->end_asks_for_all) {
		postpone_pod_end(backend, pending);
		return;
	}
	pending->is_end_put_off = false;
	if (!request_slot_acquire(&pending->end_slot, &backend->settings.api->limiter,
				  REQUEST_CHANGE, backend->job->name_space, on_pod_end_slot,
				  pending))
		return;
	struct json *options CLEANUP(json_cleanup) = kube_delete_options_new(pending->ended_uid);
	int64_t seconds = (pending->end_grace + MSEC_PER_SECOND - 1) / MSEC_PER_SECOND;

	/* Zero would delete the Pod object while its processes may still run. */
	json_set_integer(options, "gracePeriodSeconds", seconds > 0 ? seconds : 1);
	const struct kube_request request = {KUBE_DELETE,
					     &kube_pods,
					     .name = pending->pod_name,
					     .namespace_name = backend->job->name_space,
					     .body = options,
					     .wants_metadata = true};

	kube_call_cancel(pending->end_call);
	kube_call_start(&pending->end_call, backend->settings.api, &request, on_pod_deleted,
			pending);
}

void kube_backend_on_log_complete(void *data)
{
	struct kube_backend *backend = data;
	struct pending *pending;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));)
		if (pending->end_waits &&
		    !kube_backend_is_read(backend, pending->pod_name, pending->ended_uid))
			kube_backend_delete_pod(backend, pending);
	kube_backend_news(backend);
}

/* Pods whose deletion waits because directories are to be fetched from them.
 *
 * Deleting a Pod stops all its containers, also the sidecar (kube/fetch_sidecar.h). So the training
 * process is signaled from inside its container, as kubelet would do it, and the Pod stays. Files
 * are fetched as they are if the process outlives its grace period, or cannot be signaled. */

/* When the first process of a container exits, all others are killed, also the shell that sent the
 * signal. An error does not show whether the signal was sent: it is sent again. */
static void on_term_exec_end(int exit_code, const struct err *err, void *data)
{
	struct pending *pending = data;
	struct kube_backend *backend = pending->backend;
	struct err told = {0};

	pending->term = NULL;
	pending->is_deaf = !err && exit_code > 0 && exit_code < EXIT_BY_SIGNAL;
	pending->is_told = !err && !pending->is_deaf;
	if (err) {
		err_set(&told, err->code,
			"the process of Pod '%s' cannot be asked to exit; trying again: %s",
			pending->pod_name, err->text);
		pending->tell_at = loop_instant_after(TELLING_PAUSE);
		/* The first failure may mean that it has exited, which its node is slow to
		 * report. */
		if (pending->was_missed)
			kube_backend_trouble(backend, &told);
		pending->was_missed = true;
	}
	if (pending->is_deaf)
		kube_backend_news(backend);
	kube_backend_wake(backend);
}

void kube_backend_send_term(struct kube_backend *backend, struct pending *pending)
{
	static const char *const command[] = {"sh", "-c", "kill -TERM 1", NULL};
	const struct role *role = job_role(backend->job, pending->role);
	const struct kube_exec_request request = {
		.container = {backend->job->name_space, pending->pod_name,
			      role ? role->container.name : NULL},
		.command = command,
		.on_end = on_term_exec_end,
		.data = pending,
	};

	if (!kube_backend_is_live(backend, pending)) {
		kube_backend_news(backend);
		return;
	}
	pending->term = kube_exec_new(backend->settings.api, &request);
	kube_backend_wake(backend);
}

static void resend_due_term_signals(struct kube_backend *backend, instant now)
{
	struct pending *pending;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));) {
		if (!instant_has_come(pending->tell_at, now) ||
		    !kube_backend_is_waited_for(backend, pending))
			continue;
		pending->tell_at = INSTANT_NEVER;
		kube_backend_send_term(backend, pending);
	}
}

bool backend_kube_is_held_up(const struct backend *base)
{
	const struct kube_backend *backend = (const struct kube_backend *) base;
	const struct pending *pending;
	bool is_any_held = false;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));) {
		if (kube_backend_is_waited_for(backend, pending))
			return false;
		is_any_held |= pending->is_held;
	}
	return is_any_held;
}

/* Signaled processes have had their grace period; for the others it starts with the deletion. */
static void release_held_pod_end(struct kube_backend *backend, struct pending *pending,
				 bool is_hurried)
{
	if (pending->is_told || is_hurried) {
		pending->end_grace = 0;
	} else {
		pending->asked_at = loop_now();
		pending->kill_at = pending->asked_at + pending->end_grace;
	}
	pending->is_held = false;
	kube_exec_cancel(TAKE(pending->term));
	pending->end_waits = pending->is_removed &&
			     pod_logs_is_open(backend->logs, pending->pod_name, pending->ended_uid);
	if (!pending->end_waits)
		kube_backend_delete_pod(backend, pending);
}

void backend_kube_release(struct backend *base, bool is_hurried)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	struct pending *pending;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));)
		if (pending->is_held)
			release_held_pod_end(backend, pending, is_hurried);
}

/* While the breaker is open, the call that was rejected longest ago probes. */
static bool may_probe(struct circuit_breaker *breaker, instant now)
{
	if (!circuit_breaker_is_open(breaker) || !instant_has_come(breaker->again_at, now))
		return false;
	breaker->again_at = kube_backend_next_try(breaker->n_refusals++);
	return true;
}

static void try_starts_again(struct kube_backend *backend, instant now)
{
	struct pending *pending, *first = NULL;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));) {
		if (pending->start != PENDING_START_REFUSED ||
		    !instant_has_come(pending->again_at, now))
			continue;
		if (is_name_taken(backend, pending))
			pending->start = PENDING_START_WAITS; /* until that Pod was deleted */
		else if (!circuit_breaker_is_open(&backend->starts))
			kube_backend_start(backend, pending);
		else if (!first || instant_is_before(pending->again_at, first->again_at))
			first = pending;
	}
	if (first && may_probe(&backend->starts, now)) {
		first->asks_for_all = true;
		kube_backend_start(backend, first);
	}
}

static void try_ends_again(struct kube_backend *backend, instant now)
{
	struct pending *pending, *first = NULL;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));) {
		if (!pending->is_end_put_off)
			continue;
		if (!circuit_breaker_is_open(&backend->ends))
			kube_backend_delete_pod(backend, pending);
		else if (!first ||
			 instant_is_before(pending->end_refused_at, first->end_refused_at))
			first = pending;
	}
	if (first && may_probe(&backend->ends, now)) {
		first->end_asks_for_all = true;
		kube_backend_delete_pod(backend, first);
	}
}

void kube_backend_try_again(void *data)
{
	struct kube_backend *backend = data;
	instant now = loop_monotonic_now();

	kube_prerequisites_try_again(backend, now);
	try_starts_again(backend, now);
	try_ends_again(backend, now);
	resend_due_term_signals(backend, now);
	kube_backend_wake(backend);
	kube_backend_news(backend);
}

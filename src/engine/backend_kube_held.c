/* Pods whose end is held back because something is to be fetched from them.
 *
 * Deleting a Pod ends all its containers, the keeper too (kube/keeper.h). So the process that
 * trains is told to end from inside its container, as kubelet would tell it, and the Pod stays. A
 * process that is still there after its grace time is fetched from as it stands. */
#include "base/text.h"
#include "engine/backend_kube_parts.h"

/* How long after a failed telling the mirror may take to show that there was nobody to tell. */
#define SETTLING_TIME (2 * MSEC_PER_SECOND)

static const struct pod *pod_of(const struct kube_backend *backend, const struct pending *pending)
{
	const struct pod *pod = kube_mirror_get(backend->pods, pending->pod_name);

	return pod && text_equals(pod->uid, pending->ended_uid) ? pod : NULL;
}

static bool is_live(const struct kube_backend *backend, const struct pending *pending)
{
	const struct pod *pod = pod_of(backend, pending);

	return pod && observed_is_live(&pod->seen);
}

static void on_told(int exit_code, const struct err *err, void *data)
{
	struct pending *pending = data;
	struct kube_backend *backend = (struct kube_backend *) pending->backend;

	pending->term = NULL;
	if (!err && exit_code == 0)
		return;
	pending->is_deaf = true;
	pending->kill_at = loop_now() + SETTLING_TIME;
	kube_backend_wake(backend);
}

static void on_output(enum kube_channel channel, const char *bytes, size_t len, void *data)
{
	(void) channel, (void) bytes, (void) len, (void) data;
}

void kube_backend_tell_held(struct kube_backend *backend, struct pending *pending)
{
	static const char *const command[] = {"sh", "-c", "kill -TERM 1", NULL};
	const struct role *role = job_role(backend->job, pending->role);
	const struct kube_exec_request request = {
		.namespace_name = backend->job->name_space,
		.pod = pending->pod_name,
		.container = role ? role->container.name : NULL,
		.command = command,
		.on_output = on_output,
		.on_end = on_told,
		.data = pending,
	};

	if (!is_live(backend, pending)) {
		kube_backend_news(backend);
		return;
	}
	pending->term = kube_exec_new(backend->settings.api, &request);
	kube_backend_wake(backend);
}

/* It may still end by itself. */
static bool is_waited_for(const struct kube_backend *backend, const struct pending *pending)
{
	return pending->is_held && is_live(backend, pending) && loop_now() < pending->kill_at;
}

msec kube_backend_held_until(const struct kube_backend *backend)
{
	msec soonest = MSEC_NEVER;

	for (size_t i = 0; i < backend->pending.count; i++)
		if (is_waited_for(backend, backend->pending.entries[i]))
			soonest = msec_min(soonest, backend->pending.entries[i]->kill_at);
	return soonest;
}

void kube_backend_end_deaf(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->pending.count; i++) {
		struct pending *pending = backend->pending.entries[i];

		if (!pending->is_deaf || !pending->is_held || is_waited_for(backend, pending))
			continue;
		pending->is_deaf = false;
		if (!is_live(backend, pending))
			continue;
		pending->is_held = false;
		pending->asked_at = loop_now();
		pending->kill_at = pending->asked_at + pending->end_grace;
		kube_backend_end(backend, pending);
	}
}

bool backend_kube_is_held_up(const struct backend *base)
{
	const struct kube_backend *backend = (const struct kube_backend *) base;
	bool is_any_held = false;

	for (size_t i = 0; i < backend->pending.count; i++) {
		const struct pending *pending = backend->pending.entries[i];

		if (is_waited_for(backend, pending) || (pending->is_held && pending->is_deaf))
			return false;
		is_any_held |= pending->is_held;
	}
	return is_any_held;
}

/* Those that still run have had their grace time. */
void backend_kube_release(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;

	for (size_t i = 0; i < backend->pending.count; i++) {
		struct pending *pending = backend->pending.entries[i];

		if (!pending->is_held)
			continue;
		pending->is_held = false;
		pending->end_grace = 0;
		kube_exec_cancel(TAKE(pending->term));
		pending->end_waits =
			pending->is_removed &&
			pod_logs_is_open(backend->logs, pending->pod_name, pending->ended_uid);
		if (!pending->end_waits)
			kube_backend_end(backend, pending);
	}
}

/* Pods whose end is held back because something is to be fetched from them.
 *
 * Deleting a Pod ends all its containers, the keeper too (kube/keeper.h). So the process that
 * trains is told to end from inside its container, as kubelet would tell it, and the Pod stays. A
 * process that is still there after its grace time is fetched from as it stands. */
#include "base/text.h"
#include "engine/backend_kube_parts.h"

/* How long after a failed telling the mirror may take to show that there was nobody to tell. */
#define SETTLING_TIME (2 * MSEC_PER_SECOND)

static const struct pod *pod_of(const struct kube_backend *backend, const struct begun *begun)
{
	const struct pod *pod = kube_mirror_get(backend->pods, begun->pod_name);

	return pod && text_equals(pod->uid, begun->ended_uid) ? pod : NULL;
}

static bool is_live(const struct kube_backend *backend, const struct begun *begun)
{
	const struct pod *pod = pod_of(backend, begun);

	return pod && observed_is_live(&pod->seen);
}

static void on_told(int exit_code, const struct err *err, void *data)
{
	struct begun *begun = data;
	struct kube_backend *backend = (struct kube_backend *) begun->backend;

	begun->term = NULL;
	if (!err && exit_code == 0)
		return;
	begun->is_deaf = true;
	begun->kill_at = loop_now() + SETTLING_TIME;
	kube_backend_wake(backend);
}

static void on_output(enum kube_channel channel, const char *bytes, size_t len, void *data)
{
	(void) channel, (void) bytes, (void) len, (void) data;
}

void kube_backend_tell_held(struct kube_backend *backend, struct begun *begun)
{
	static const char *const command[] = {"sh", "-c", "kill -TERM 1", NULL};
	const struct role *role = job_role(backend->job, begun->role);
	const struct kube_exec_request request = {
		.namespace_name = backend->job->name_space,
		.pod = begun->pod_name,
		.container = role ? role->container.name : NULL,
		.command = command,
		.on_output = on_output,
		.on_end = on_told,
		.data = begun,
	};

	if (!is_live(backend, begun)) {
		kube_backend_news(backend);
		return;
	}
	begun->term = kube_exec_new(backend->settings.api, &request);
	kube_backend_wake(backend);
}

/* It may still end by itself. */
static bool is_waited_for(const struct kube_backend *backend, const struct begun *begun)
{
	return begun->is_held && is_live(backend, begun) && loop_now() < begun->kill_at;
}

msec kube_backend_held_until(const struct kube_backend *backend)
{
	msec soonest = MSEC_NEVER;

	for (size_t i = 0; i < backend->begun.count; i++)
		if (is_waited_for(backend, backend->begun.entries[i]))
			soonest = msec_min(soonest, backend->begun.entries[i]->kill_at);
	return soonest;
}

void kube_backend_end_deaf(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->begun.count; i++) {
		struct begun *begun = backend->begun.entries[i];

		if (!begun->is_deaf || !begun->is_held || is_waited_for(backend, begun))
			continue;
		begun->is_deaf = false;
		if (!is_live(backend, begun))
			continue;
		begun->is_held = false;
		begun->asked_at = loop_now();
		begun->kill_at = begun->asked_at + begun->end_grace;
		kube_backend_end(backend, begun);
	}
}

bool backend_kube_is_held_up(const struct backend *base)
{
	const struct kube_backend *backend = (const struct kube_backend *) base;
	bool is_any_held = false;

	for (size_t i = 0; i < backend->begun.count; i++) {
		const struct begun *begun = backend->begun.entries[i];

		if (is_waited_for(backend, begun) || (begun->is_held && begun->is_deaf))
			return false;
		is_any_held |= begun->is_held;
	}
	return is_any_held;
}

/* Those that still run have had their grace time. */
void backend_kube_release(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;

	for (size_t i = 0; i < backend->begun.count; i++) {
		struct begun *begun = backend->begun.entries[i];

		if (!begun->is_held)
			continue;
		begun->is_held = false;
		begun->end_grace = 0;
		kube_exec_cancel(TAKE(begun->term));
		begun->end_waits =
			begun->is_removed &&
			pod_logs_is_open(backend->logs, begun->pod_name, begun->ended_uid);
		if (!begun->end_waits)
			kube_backend_end(backend, begun);
	}
}

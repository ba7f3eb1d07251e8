/* Events of a TFJob about its Pods, Services and PodGroup, in the words of training-operator 1.9.
 * Jobs without a TFJob object have no Events.
 *
 * Of rejected calls only the first object's is reported: a quota rejects all in the same way. */
#include "base/exit_code.h"
#include "base/text.h"
#include "cluster/backend_state.h"
#include "status/failure_words.h"

#define EVENT_LIFE (3600 * MSEC_PER_SECOND) /* of kube-apiserver's --event-ttl */

static const struct job *backend_job_of(const struct kube_backend *backend)
{
	return backend->job ? backend->job : backend->settings.job;
}

static void send_object_event(const struct kube_backend *backend, const char *verb,
			      const char *done, const struct kube_resource *resource,
			      const char *name, const char *role, const char *uid)
{
	if (!backend->settings.events || !uid)
		return;
	char *reason CLEANUP(mem_free_text) = mem_format("Successful%s%s", verb, resource->kind);
	char *before CLEANUP(mem_free_text) =
		mem_format("%s %s: ", done,
			   resource == &kube_pods       ? "pod"
			   : resource == &kube_services ? "service"
							: resource->kind);
	const struct object_event event = {
		.reason = reason, .before = before, .name = name, .role = role, .uid = uid};

	tfjob_events_send_of(backend->settings.events, backend_job_of(backend), &event);
}

void kube_report_created(const struct kube_backend *backend, const struct kube_resource *resource,
			 const char *name, const char *role, const char *uid)
{
	send_object_event(backend, "Create", "Created", resource, name, role, uid);
}

void kube_report_deleted(struct kube_backend *backend, const struct kube_resource *resource,
			 const char *name, const char *role, const char *uid)
{
	backend->is_end_refused = false;
	send_object_event(backend, "Delete", "Deleted", resource, name, role, uid);
}

void kube_report(const struct kube_backend *backend, enum note_level level, const char *reason,
		 const char *sentence)
{
	const struct note note = {.level = level, .reason = reason, .sentence = sentence};

	if (backend->settings.events)
		tfjob_events_send(backend->settings.events, backend_job_of(backend), &note);
}

static void report_refused_change(const struct kube_backend *backend, const char *verb,
				  const char *doing, const struct kube_resource *resource,
				  const struct err *err)
{
	char *reason CLEANUP(mem_free_text) = mem_format("Failed%s%s", verb, resource->kind);
	char *sentence CLEANUP(mem_free_text) =
		mem_format("Error %s: %s", doing, kube_refusal_said(err->text));

	kube_report(backend, NOTE_WARNING, reason, sentence);
}

void kube_report_not_created(const struct kube_backend *backend,
			     const struct kube_resource *resource, const struct err *err)
{
	report_refused_change(backend, "Create", "creating", resource, err);
}

void kube_report_not_deleted(struct kube_backend *backend, const struct kube_resource *resource,
			     const struct err *err)
{
	if (!backend->is_end_refused)
		report_refused_change(backend, "Delete", "deleting", resource, err);
	backend->is_end_refused = true;
}

void kube_report_restart_policy(struct kube_backend *backend, const struct role *role)
{
	const struct json *policy =
		role ? json_get_path(role->template, "spec", "restartPolicy", NULL) : NULL;
	const struct object_event event = {
		.level = NOTE_WARNING,
		.reason = "SetPodTemplateRestartPolicy",
		.before = "Restart policy in pod template will be overwritten by restart policy "
			  "in replica spec",
		.name = "",
		.uid = backend_job_of(backend)->uid,
	};

	if (!backend->settings.events || backend->is_policy_told || !*json_as_string(policy, ""))
		return;
	backend->is_policy_told = true;
	tfjob_events_send_of(backend->settings.events, backend_job_of(backend), &event);
}

/* What Pods report about themselves. */

static void send_pod_event(const struct kube_backend *backend, const struct job_pod *pod,
			   const struct object_event *words)
{
	struct object_event event = *words;

	event.name = pod->name;
	event.role = pod->seen.role;
	event.uid = pod->uid;
	tfjob_events_send_of(backend->settings.events, backend_job_of(backend), &event);
}

static void send_pod_exit_event(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	char *before CLEANUP(mem_free_text) =
		mem_format("Pod: %s.", backend->settings.job->name_space);
	char *after CLEANUP(mem_free_text) =
		mem_format(" exited with code %d",
			   seen->signal > 0 ? EXIT_BY_SIGNAL + seen->signal : seen->exit_code);

	send_pod_event(backend, pod,
		       &(struct object_event){
			       .reason = "ExitedWithCode", .before = before, .after = after});
}

/* The reason of a waiting container, or of the Pod itself. */
static void send_pod_reason_event(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	char *after CLEANUP(mem_free_text) =
		seen->container ? mem_format(" container %s waiting message: ", seen->container)
				: mem_copy_text(" condition message: ");

	send_pod_event(
		backend, pod,
		&(struct object_event){.level = NOTE_WARNING,
				       .reason = seen->reason,
				       .before = "Error pod ",
				       .after = after,
				       .detail = seen->message ? seen->message : seen->reason});
}

static bool has_ended_now(const struct job_pod *before, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	bool was_live = !before || observed_is_live(&before->seen);

	return was_live && !observed_is_live(seen) && (seen->signal > 0 || seen->exit_code >= 0) &&
	       loop_now() - seen->ended_at < EVENT_LIFE;
}

/* The messages of one trouble alternate. In a small job each has an Event, accepted once. */
static bool is_same_reason(const struct kube_backend *backend, const char *before, const char *now)
{
	if (text_equals(before, now))
		return true;
	return before && job_replica_count(backend_job_of(backend)) > TFJOB_EVENTS_SINGLE &&
	       text_equals(failure_phrase_of_waiting_reason(before),
			   failure_phrase_of_waiting_reason(now));
}

static bool has_new_reason(const struct kube_backend *backend, const struct job_pod *before,
			   const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;

	return seen->reason && observed_is_live(seen) && !observed_was_asked_to_end(seen) &&
	       !(before && is_same_reason(backend, before->seen.reason, seen->reason));
}

void kube_report_pod(const struct kube_backend *backend, const struct job_pod *before,
		     const struct job_pod *pod)
{
	bool is_same = before && text_equals(before->uid, pod->uid);

	if (!backend->settings.events || !kube_backend_owns(backend, pod))
		return;
	if (has_ended_now(is_same ? before : NULL, pod))
		send_pod_exit_event(backend, pod);
	if (has_new_reason(backend, is_same ? before : NULL, pod))
		send_pod_reason_event(backend, pod);
}

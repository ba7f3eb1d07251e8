/* Events of a TFJob about its Pods, Services and PodGroup, in the words of training-operator 1.9.
 * Jobs that no TFJob object stands for have none.
 *
 * What was refused is reported of the first object alone: a quota refuses all in one way. */
#include "base/exit_code.h"
#include "base/text.h"
#include "engine/backend_kube_state.h"

#define EVENT_LIFE (3600 * MSEC_PER_SECOND) /* of kube-apiserver's --event-ttl */

static const struct job *job_of(const struct kube_backend *backend)
{
	return backend->job ? backend->job : backend->settings.job;
}

static const char *kind_of(const struct kube_resource *resource)
{
	if (resource == &kube_pods)
		return "Pod";
	return resource == &kube_services ? "Service" : "PodGroup";
}

static const char *word_of(const struct kube_resource *resource)
{
	if (resource == &kube_pods)
		return "pod";
	return resource == &kube_services ? "service" : "PodGroup";
}

static void tell_done(const struct kube_backend *backend, const char *verb, const char *done,
		      const struct told_object *object)
{
	char *reason CLEANUP(mem_free_text) =
		mem_format("Successful%s%s", verb, kind_of(object->resource));
	char *before CLEANUP(mem_free_text) =
		mem_format("%s %s: ", done, word_of(object->resource));
	const struct object_event event = {
		.reason = reason,
		.before = before,
		.name = object->name,
		.after = "",
		.role = object->role,
		.uid = object->uid,
	};

	if (backend->settings.events && object->uid)
		tfjob_events_send_of(backend->settings.events, job_of(backend), &event);
}

void kube_tell_created(const struct kube_backend *backend, const struct told_object *object)
{
	tell_done(backend, "Create", "Created", object);
}

void kube_tell_deleted(const struct kube_backend *backend, const struct told_object *object)
{
	tell_done(backend, "Delete", "Deleted", object);
}

void kube_tell(const struct kube_backend *backend, enum note_level level, const char *reason,
	       const char *sentence)
{
	const struct note note = {.level = level, .reason = reason, .sentence = sentence};

	if (backend->settings.events)
		tfjob_events_send(backend->settings.events, job_of(backend), &note);
}

static void tell_refused(const struct kube_backend *backend, const char *verb, const char *doing,
			 const struct kube_resource *resource, const struct err *err)
{
	char *reason CLEANUP(mem_free_text) = mem_format("Failed%s%s", verb, kind_of(resource));
	char *sentence CLEANUP(mem_free_text) =
		mem_format("Error %s: %s", doing, kube_refusal_said(err->text));

	kube_tell(backend, NOTE_WARNING, reason, sentence);
}

void kube_tell_not_created(const struct kube_backend *backend, const struct kube_resource *resource,
			   const struct err *err)
{
	tell_refused(backend, "Create", "creating", resource, err);
}

void kube_tell_not_deleted(const struct kube_backend *backend, const struct kube_resource *resource,
			   const struct err *err)
{
	tell_refused(backend, "Delete", "deleting", resource, err);
}

/* A Pod has the policy of its role. */
static void warn_of_restart_policy(const struct kube_backend *backend, const struct role *role)
{
	const struct json *policy =
		role ? json_get_path(role->template, "spec", "restartPolicy", NULL) : NULL;
	const struct object_event event = {
		.level = NOTE_WARNING,
		.reason = "SetPodTemplateRestartPolicy",
		.before = "Restart policy in pod template will be overwritten by restart policy "
			  "in replica spec",
		.name = "",
		.after = "",
		.uid = job_of(backend)->uid,
	};

	if (backend->settings.events && *json_as_string(policy, ""))
		tfjob_events_send_of(backend->settings.events, job_of(backend), &event);
}

void kube_tell_pod_created(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct told_object object = {&kube_pods, pod->name, pod->seen.role, pod->uid};

	warn_of_restart_policy(backend, job_role(job_of(backend), pod->seen.role));
	kube_tell_created(backend, &object);
}

/* What Pods say of themselves. */

static void tell_of_pod(const struct kube_backend *backend, const struct job_pod *pod,
			const struct object_event *words)
{
	struct object_event event = *words;

	event.name = pod->name;
	event.role = pod->seen.role;
	event.uid = pod->uid;
	tfjob_events_send_of(backend->settings.events, job_of(backend), &event);
}

static void tell_end(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	char *before CLEANUP(mem_free_text) =
		mem_format("Pod: %s.", backend->settings.job->name_space);
	char *after CLEANUP(mem_free_text) =
		mem_format(" exited with code %d",
			   seen->signal > 0 ? EXIT_BY_SIGNAL + seen->signal : seen->exit_code);

	tell_of_pod(backend, pod,
		    &(struct object_event){
			    .reason = "ExitedWithCode", .before = before, .after = after});
}

/* Of its container once it has a node; before that, and of its node, of the Pod itself. */
static void tell_reason(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	const char *message = seen->message ? seen->message : seen->reason;
	bool is_of_container = seen->phase == OBSERVED_STARTING && seen->stage != OBSERVED_MADE &&
			       !seen->is_reason_from_elsewhere;
	char *after CLEANUP(mem_free_text) =
		is_of_container
			? mem_format(" container %s waiting message: %s", pod->container, message)
			: mem_format(" condition message: %s", message);

	tell_of_pod(backend, pod,
		    &(struct object_event){.level = NOTE_WARNING,
					   .reason = seen->reason,
					   .before = "Error pod ",
					   .after = after});
}

static bool has_ended_now(const struct job_pod *before, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	bool was_live = !before || observed_is_live(&before->seen);

	return was_live && !observed_is_live(seen) && (seen->signal > 0 || seen->exit_code >= 0) &&
	       loop_now() - seen->ended_at < EVENT_LIFE;
}

static bool has_new_reason(const struct job_pod *before, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;

	return seen->reason && observed_is_live(seen) && !observed_was_asked_to_end(seen) &&
	       !(before && text_equals(before->seen.reason, seen->reason));
}

void kube_tell_pod(const struct kube_backend *backend, const struct job_pod *before,
		   const struct job_pod *pod)
{
	bool is_same = before && text_equals(before->uid, pod->uid);

	if (!backend->settings.events || !kube_backend_owns(backend, pod))
		return;
	if (has_ended_now(is_same ? before : NULL, pod))
		tell_end(backend, pod);
	if (has_new_reason(is_same ? before : NULL, pod))
		tell_reason(backend, pod);
}

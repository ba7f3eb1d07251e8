/* From general to particular: the Pod's own status, the training container, why it has to end. */
#include "kube/job_pod.h"

#include "base/exit_code.h"
#include "base/line_text.h"
#include "base/names.h"
#include "kube/objects.h"
#include "spec/job_files.h"
#include "spec/pod_template.h"
#include "status/failure_words.h"

#include <limits.h>
#include <signal.h>

#define TRAINING_CONTAINER "tensorflow"
#define LAST_SIGNAL 64
#define LONGEST_MESSAGE 300

static const char *pod_text_of(const struct json *object, const char *key)
{
	return json_get_string(object, key, NULL);
}

/* A program that never began has times at the epoch, which also count as unset. */
static msec time_at(const struct json *object, const char *key)
{
	msec time = json_as_time(json_get(object, key));

	return time > 0 ? time : MSEC_UNSET;
}

static bool parse_label_number(const char *text, int most, int *ret_number)
{
	int64_t number;

	if (!text || text_read_int(text, 0, most, &number, NULL) < 0)
		return false;
	*ret_number = (int) number;
	return true;
}

/* Which replica of its job it is. The values name its log files, whatever the labels' origin. */
static bool read_labels(const struct json *metadata, struct job_pod *pod)
{
	const struct pod_labels labels = pod_labels_of(metadata);

	if (!name_is_dns_label(labels.role) || !name_is_dns1035_label(labels.job))
		return false;
	pod->seen.role = arena_copy_text(pod->arena, labels.role);
	return parse_label_number(labels.index, LIMIT_REPLICAS - 1, &pod->seen.index) &&
	       parse_label_number(labels.attempt, LIMIT_RESTARTS - 1, &pod->seen.attempt);
}

/* A Pod with phase Unknown was running when its node last reported. */
static enum observed_phase phase_of(const struct json *status)
{
	const char *phase = pod_text_of(status, "phase");

	if (text_equals(phase, "Succeeded"))
		return OBSERVED_SUCCEEDED;
	if (text_equals(phase, "Failed"))
		return OBSERVED_FAILED;
	return text_equals(phase, "Running") || text_equals(phase, "Unknown") ? OBSERVED_RUNNING
									      : OBSERVED_STARTING;
}

/* One short line, because it is stored for each replica. */
static const char *first_line(struct arena *arena, const char *message)
{
	size_t len = message ? strcspn(message, "\r\n") : 0;

	if (len > LONGEST_MESSAGE)
		len = line_text_whole_characters(message, LONGEST_MESSAGE);
	return len ? arena_format(arena, "%.*s", (int) len, message) : NULL;
}

static void set_reason(struct job_pod *pod, const char *reason, const char *message)
{
	pod->seen.reason = arena_copy_text(pod->arena, reason);
	pod->seen.message = first_line(pod->arena, message);
	pod->seen.container = NULL;
}

static void read_exit_code(const struct json *terminated, struct observed_replica *replica)
{
	int64_t code = json_as_integer(json_get(terminated, "exitCode"), -1);
	int64_t signal = json_as_integer(json_get(terminated, "signal"), 0);

	if (signal == 0 && code > EXIT_BY_SIGNAL && code <= EXIT_BY_SIGNAL + LAST_SIGNAL)
		signal = code - EXIT_BY_SIGNAL;
	if (signal > 0 && signal <= LAST_SIGNAL)
		replica->signal = (int) signal;
	else if (code >= 0 && code <= INT_MAX)
		replica->exit_code = (int) code;
}

static bool is_start_error(const char *reason)
{
	return text_equals(reason, "StartError") || text_equals(reason, "ContainerCannotRun");
}

static void read_terminated(const struct json *terminated, struct job_pod *pod)
{
	const char *reason = pod_text_of(terminated, "reason");
	const char *message = pod_text_of(terminated, "message");

	read_exit_code(terminated, &pod->seen);
	pod->seen.phase = pod->seen.exit_code == 0 ? OBSERVED_SUCCEEDED : OBSERVED_FAILED;
	pod->seen.started_at = time_at(terminated, "startedAt");
	pod->seen.ended_at = time_at(terminated, "finishedAt");
	if (is_start_error(reason)) {
		pod->seen.exit_code = -1; /* the run-time's code, not the program's */
		pod->seen.started_at = MSEC_UNSET;
		set_reason(pod, FAILURE_START_FAILED, message);
	} else if (reason && !text_equals(reason, "Completed") && !text_equals(reason, "Error")) {
		set_reason(pod, reason, message); /* those add nothing to the code */
	}
}

/* The registry's message does not always name the image. */
static void name_image(const char *image, struct job_pod *pod)
{
	const char *message = pod->seen.message;

	if (!image || !text_equals(failure_phrase_of_waiting_reason(pod->seen.reason),
				   failure_phrase_of_waiting_reason("ErrImagePull")))
		return;
	if (!message)
		pod->seen.message = arena_format(pod->arena, "image '%s'", image);
	else if (!strstr(message, image))
		pod->seen.message = arena_format(pod->arena, "image '%s': %s", image, message);
}

static void read_waiting(const struct json *container, struct job_pod *pod)
{
	const struct json *waiting = json_get_path(container, "state", "waiting", NULL);
	const char *reason = pod_text_of(waiting, "reason");

	if (observed_is_live(&pod->seen))
		pod->seen.phase = OBSERVED_STARTING;
	/* The ordinary start steps need no reason. */
	if (!reason || text_equals(reason, "ContainerCreating") ||
	    text_equals(reason, "PodInitializing"))
		return;
	set_reason(pod, reason, pod_text_of(waiting, "message"));
	pod->seen.container = arena_copy_text(pod->arena, pod_text_of(container, "name"));
	name_image(pod_text_of(container, "image"), pod);
}

static const char *training_container_of(const struct json *object)
{
	const struct json *container = pod_template_container(object);

	return json_get_string(container, "name", TRAINING_CONTAINER);
}

/* The kubelet restarts the container as long as the Pod has not ended and is not being deleted. */
static bool is_started_again(const struct json *object, const struct json *terminated,
			     const struct observed_replica *replica)
{
	const char *policy = pod_text_of(json_get(object, "spec"), "restartPolicy");
	bool has_succeeded =
		terminated && json_as_integer(json_get(terminated, "exitCode"), 0) == 0;

	return observed_is_live(replica) &&
	       !json_get_path(object, "metadata", "deletionTimestamp", NULL) &&
	       (text_equals(policy, "Always") ||
		(text_equals(policy, "OnFailure") && !has_succeeded));
}

/* Until the restart is done, the container has ended once more than it was restarted. */
static void read_ends_in_place(const struct json *container, struct job_pod *pod)
{
	const struct json *state = json_get(container, "state");
	const struct json *now = json_get(state, "terminated");
	const struct json *before = json_get_path(container, "lastState", "terminated", NULL);
	bool is_between = now || (before && json_get(state, "waiting"));
	int64_t count = json_as_integer(json_get(container, "restartCount"), 0) + is_between;
	struct job_pod ended = {.arena = pod->arena, .seen.exit_code = -1};

	if (!now && !before)
		return;
	read_terminated(now ? now : before, &ended);
	pod->seen.n_ends_in_place = count < LIMIT_RESTARTS ? (int) count : LIMIT_RESTARTS;
	pod->seen.last_end = (struct observed_end){
		.exit_code = ended.seen.exit_code,
		.signal = ended.seen.signal,
		.reason = ended.seen.reason,
		.started_at = ended.seen.started_at,
		.ended_at = ended.seen.ended_at,
	};
}

/* A replica of a TFJob has failed when its Pod has, with a container other than the training
 * container. */
static void read_end_of_pod(const struct json *object, struct job_pod *pod)
{
	const struct json *status = json_get(object, "status");
	const struct json *list = json_get(status, "containerStatuses");

	if (pod->seen.phase != OBSERVED_SUCCEEDED || phase_of(status) != OBSERVED_FAILED ||
	    !pod_labels_are_of_tfjob(json_get(object, "metadata")))
		return;
	pod->seen.phase = OBSERVED_FAILED;
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *container = json_at(list, i);
		const struct json *ended = json_get_path(container, "state", "terminated", NULL);
		int exit_code = (int) json_as_integer(json_get(ended, "exitCode"), 0);

		if (exit_code == 0)
			continue;
		pod->seen.exit_code = -1;
		read_exit_code(ended, &pod->seen);
		pod->seen.reason = FAILURE_SIDECAR_FAILED;
		pod->seen.message = arena_format(pod->arena, "container '%s' exited with code %d",
						 pod_text_of(container, "name"), exit_code);
		return;
	}
}

static void read_container(const struct json *object, struct job_pod *pod)
{
	const struct json *list = json_get_path(object, "status", "containerStatuses", NULL);
	const struct json *container =
		pod_template_find(list, "name", training_container_of(object));
	const struct json *state, *terminated;

	container = container ? container : json_at(list, 0);
	state = json_get(container, "state");
	terminated = json_get(state, "terminated");
	/* A replica of a TFJob has succeeded when its Pod has, as in training-operator: a
	 * sidecar may finish the work, for instance with an upload. */
	bool is_held_open = pod_labels_are_of_tfjob(json_get(object, "metadata")) &&
			    observed_is_live(&pod->seen) &&
			    json_as_integer(json_get(terminated, "exitCode"), -1) == 0;

	if (is_started_again(object, terminated, &pod->seen))
		read_ends_in_place(container, pod);
	else if (is_held_open)
		pod->seen.started_at = time_at(terminated, "startedAt");
	else if (terminated)
		read_terminated(terminated, pod);
	read_end_of_pod(object, pod);
	if (json_get(state, "waiting"))
		read_waiting(container, pod);
	else if (json_get(state, "running"))
		pod->seen.started_at = time_at(json_get(state, "running"), "startedAt");
}

/* Secrets may not be read, so this is how a missing Secret of the job is noticed. The job's
 * document does not have the values. */
static void explain_missing_secret(const struct json *metadata, struct job_pod *pod)
{
	const char *job_name = pod_text_of(json_get(metadata, "labels"), OBJECTS_LABEL_JOB);
	const char *namespace_name = json_get_string(metadata, "namespace", "default");
	char *name CLEANUP(mem_free_text) = job_secret_name(job_name);
	char *message CLEANUP(mem_free_text) = mem_format("secret \"%s\" not found", name);

	if (!text_equals(pod->seen.reason, "CreateContainerConfigError") ||
	    !text_equals(pod->seen.message, message) || !name_is_dns_label(namespace_name))
		return;
	pod->seen.reason = FAILURE_SECRET_MISSING;
	pod->seen.message =
		arena_format(pod->arena,
			     "'%s', which holds the variables of --env, was deleted, so new Pods "
			     "cannot start: create it again (kubectl create secret generic -n %s "
			     "%s --from-literal=NAME=VALUE), or stop the job and run it again",
			     name, namespace_name, name);
}

static const char *behind_line(const char *text)
{
	text += strcspn(text, "\r\n");
	return text + strspn(text, "\r\n");
}

/* The end of a log, as one line: as many lines as necessary are dropped from the front. */
static const char *last_words(struct arena *arena, const char *message)
{
	const char *rest = message ? message : "";
	struct text words CLEANUP(text_done) = {0};

	while (strlen(rest) > LONGEST_MESSAGE && *behind_line(rest))
		rest = behind_line(rest);
	for (; *rest; rest = behind_line(rest))
		text_addf(&words, "%s%.*s", words.len ? "; " : "", (int) strcspn(rest, "\r\n"),
			  rest);
	return first_line(arena, text_of(&words));
}

/* An exit code is the program's own; the run-time has messages for what it could not start. */
static const char *describe_failed_init(const struct json *container, const struct json *terminated,
					struct arena *arena)
{
	const char *name = json_get_string(container, "name", "");
	const char *message = pod_text_of(terminated, "message");

	if (is_start_error(pod_text_of(terminated, "reason")) && message)
		return arena_format(arena, "init container '%s' could not be started: %s", name,
				    message);
	const char *said = last_words(arena, message);

	return arena_format(arena, "init container '%s' exited with code %d%s%s", name,
			    (int) json_as_integer(json_get(terminated, "exitCode"), 0),
			    said ? ": " : "", said ? said : "");
}

/* An init container that blocks the training container. */
static void read_init_containers(const struct json *status, struct job_pod *pod)
{
	const struct json *list = json_get(status, "initContainerStatuses");

	for (size_t i = 0; i < json_count(list) && !pod->seen.reason; i++) {
		const struct json *container = json_at(list, i);
		const struct json *state = json_get(container, "state");
		const struct json *terminated = json_get(state, "terminated");
		bool has_failed = json_as_integer(json_get(terminated, "exitCode"), 0) != 0;

		if (has_failed && pod->seen.phase == OBSERVED_FAILED) {
			pod->seen.ended_at = time_at(terminated, "finishedAt");
			pod->seen.reason = FAILURE_INIT_FAILED;
			pod->seen.message = describe_failed_init(container, terminated, pod->arena);
		} else if (json_get(state, "waiting")) {
			read_waiting(container, pod);
		}
	}
}

/* The reason of the whole Pod: "Evicted", "DeadlineExceeded", "NodeLost". The container's cause of
 * death is more specific. The exit code of a program that was asked to end is not: 0 is no
 * success. */
static void read_reason_of_pod(const struct json *status, struct job_pod *pod)
{
	const char *reason = pod_text_of(status, "reason");

	if (!reason || pod->seen.reason || observed_is_live(&pod->seen))
		return;
	set_reason(pod, reason, pod_text_of(status, "message"));
	if (phase_of(status) != OBSERVED_FAILED)
		return;
	pod->seen.phase = OBSERVED_FAILED;
	pod->seen.exit_code = -1;
}

/* Why the Pod is being removed, or cannot be scheduled. */
static void read_conditions(const struct json *status, struct job_pod *pod)
{
	const struct json *conditions = json_get(status, "conditions");

	for (size_t i = 0; i < json_count(conditions); i++) {
		const struct json *condition = json_at(conditions, i);
		const char *type = pod_text_of(condition, "type");
		const char *value = pod_text_of(condition, "status");
		const char *reason = pod_text_of(condition, "reason");
		bool is_unplaced = text_equals(type, "PodScheduled") &&
				   text_equals(value, "False") && !pod->seen.reason;
		bool is_disrupted =
			text_equals(type, "DisruptionTarget") && text_equals(value, "True");
		/* For its own evictions a kubelet gives more detail in the Pod's reason. */
		bool is_known = is_disrupted && pod->seen.reason &&
				text_equals(reason, "TerminationByKubelet");

		if ((is_unplaced || is_disrupted) && !is_known)
			set_reason(pod, reason, pod_text_of(condition, "message"));
	}
}

static bool condition_is(const struct json *status, const char *type, const char *value)
{
	const struct json *condition =
		pod_template_find(json_get(status, "conditions"), "type", type);

	return text_equals(pod_text_of(condition, "status"), value);
}

/* A live kubelet reports both conditions together, with a reason. When it is silent, a controller
 * changes Ready alone (pkg/controller/util/node, MarkPodsNotReady). */
static bool is_node_silent(const struct json *status)
{
	const struct json *ready =
		pod_template_find(json_get(status, "conditions"), "type", "Ready");

	return condition_is(status, "Ready", "False") &&
	       condition_is(status, "ContainersReady", "True") && !pod_text_of(ready, "reason");
}

static void read_node(const struct json *object, struct job_pod *pod)
{
	const char *node = pod_text_of(json_get(object, "spec"), "nodeName");

	if (!name_is_dns_subdomain(node))
		return; /* it would appear in printed commands */
	pod->seen.node = arena_copy_text(pod->arena, node);
	pod->seen.is_node_silent =
		observed_is_live(&pod->seen) && is_node_silent(json_get(object, "status"));
	if (!pod->seen.is_node_silent || pod->seen.reason)
		return;
	pod->seen.reason = FAILURE_NODE_NOT_READY;
	pod->seen.message =
		arena_format(pod->arena,
			     "node '%s' does not respond; unless it recovers, the cluster evicts "
			     "the Pod (after 30s, or the time in its tolerations)",
			     node);
}

/* deletionTimestamp is the end of the grace period, not its beginning. */
static void read_deletion(const struct json *metadata, struct observed_replica *replica)
{
	msec grace = msec_of_seconds(
		json_as_integer(json_get(metadata, "deletionGracePeriodSeconds"), 0));

	replica->kill_at = time_at(metadata, "deletionTimestamp");
	if (replica->kill_at == MSEC_UNSET)
		return;
	replica->stop_asked_at = replica->kill_at - grace;
	replica->is_killed = grace == 0;
}

/* The limit that the kernel enforced. The kill is visible immediately. Its reason comes separately,
 * and containerd may learn it late or never (containerd's issues 8893 and 12372). */
static void read_memory_limit(const struct json *object, struct job_pod *pod)
{
	const char *limit = json_as_string(json_get_path(pod_template_container(object),
							 "resources", "limits", "memory", NULL),
					   NULL);

	if (!limit || pod->seen.message)
		return;
	if (text_equals(pod->seen.reason, "OOMKilled"))
		pod->seen.message = arena_format(pod->arena, "its memory limit is %s", limit);
	else if (!pod->seen.reason && pod->seen.signal == SIGKILL &&
		 pod->seen.stop_asked_at == MSEC_UNSET)
		pod->seen.message = arena_format(
			pod->arena, "its memory limit is %s, which it may have reached", limit);
}

static const char *copy_at(struct arena *arena, const struct json *object, const char *key)
{
	return arena_copy_text(arena, pod_text_of(object, key));
}

struct job_pod *job_pod_read(const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	const struct json *status = json_get(object, "status");
	const char *version = json_get_string(metadata, "resourceVersion", "");
	struct arena *arena = arena_new();
	struct job_pod *pod = arena_take(arena, sizeof(*pod));

	pod->arena = arena;
	pod->seen.exit_code = -1;
	if (!name_is_dns_subdomain(pod_text_of(metadata, "name")) || !read_labels(metadata, pod)) {
		arena_free(arena);
		return NULL;
	}
	pod->seen.phase = phase_of(status);
	pod->seen.stage = condition_is(status, "PodReadyToStartContainers", "True")
				  ? OBSERVED_SET_UP
			  : condition_is(status, "PodScheduled", "True") ? OBSERVED_SCHEDULED
									 : OBSERVED_MADE;
	pod->seen.is_object_running =
		pod_labels_are_of_tfjob(metadata) && pod->seen.phase == OBSERVED_RUNNING;
	read_container(object, pod);
	explain_missing_secret(metadata, pod);
	read_init_containers(status, pod);
	read_reason_of_pod(status, pod);
	read_conditions(status, pod);
	read_node(object, pod);
	read_deletion(metadata, &pod->seen);
	read_memory_limit(object, pod);
	pod->name = copy_at(arena, metadata, "name");
	pod->uid = copy_at(arena, metadata, "uid");
	pod->job_name = arena_copy_text(arena, pod_labels_job(metadata));
	pod->owner_uid = copy_at(arena, objects_owner_of(metadata), "uid");
	pod->ip = copy_at(arena, status, "podIP");
	pod->container = arena_copy_text(arena, training_container_of(object));
	int64_t n_restarts =
		json_as_integer(json_get(pod_template_find(json_get(status, "containerStatuses"),
							   "name", pod->container),
					 "restartCount"),
				0);

	pod->n_restarts = n_restarts > 0 && n_restarts < INT_MAX ? (int) n_restarts : 0;
	if (text_read_int(version, 0, INT64_MAX, &pod->version, NULL) < 0)
		pod->version = 0;
	return pod;
}

void job_pod_free(struct job_pod *pod)
{
	if (pod)
		arena_free(pod->arena);
}

void job_pod_set_reason(struct job_pod *pod, const char *reason, const char *message)
{
	pod->seen.is_reason_from_elsewhere = true;
	pod->seen.reason = arena_copy_text(pod->arena, reason);
	pod->seen.message = first_line(pod->arena, message);
}

static bool is_owned_by_job(const struct json *owner, const char *kind, const char *name,
			    const char *job_uid)
{
	if (job_uid)
		return text_equals(pod_text_of(owner, "uid"), job_uid);
	return text_equals(pod_text_of(owner, "kind"), kind) &&
	       text_equals(pod_text_of(owner, "name"), name);
}

static bool is_in_job_of_run(const struct json *metadata, const char *job_name, const char *job_uid)
{
	const char *manager = pod_text_of(json_get(metadata, "labels"), OBJECTS_LABEL_MANAGED_BY);
	const struct json *owner = objects_owner_of(metadata);
	char *name CLEANUP(mem_free_text) = objects_owner_name(job_name);

	return text_equals(manager, OBJECTS_MANAGED_BY) &&
	       ((!job_uid && !owner) || is_owned_by_job(owner, "ConfigMap", name, job_uid));
}

bool job_pod_is_in(const struct json *object, const char *job_name, const char *job_uid)
{
	const struct json *metadata = json_get(object, "metadata");

	return text_equals(pod_labels_job(metadata), job_name) &&
	       (pod_labels_are_of_tfjob(metadata)
			? is_owned_by_job(objects_owner_of(metadata), "TFJob", job_name, job_uid)
			: is_in_job_of_run(metadata, job_name, job_uid));
}

bool job_pod_is_of(const struct job_pod *pod, const char *job_uid, bool is_untouched)
{
	return pod->owner_uid ? text_equals(pod->owner_uid, job_uid) : is_untouched;
}

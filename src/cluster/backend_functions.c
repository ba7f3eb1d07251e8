/* The functions of the back end: its observation, and the calls that an action starts. */
#include "base/text.h"
#include "cluster/backend_state.h"
#include "io/log.h"
#include "logs/reader.h"
#include "spec/limits.h"
#include "status/failure_words.h"

#include <stdlib.h>

static const struct backend_functions kube_functions;

static struct observed_replica copy_seen(const struct observed_replica *seen, struct arena *arena)
{
	struct observed_replica copy = *seen;

	copy.role = arena_copy_text(arena, seen->role);
	copy.reason = arena_copy_text(arena, seen->reason);
	copy.message = arena_copy_text(arena, seen->message);
	copy.container = arena_copy_text(arena, seen->container);
	copy.node = arena_copy_text(arena, seen->node);
	copy.last_end.reason = arena_copy_text(arena, seen->last_end.reason);
	return copy;
}

static void observe_pods(const struct kube_backend *backend, struct arena *arena,
			 struct observed *observed)
{
	const struct pending *pending;
	const struct job_pod *pod;
	const void *place = NULL;

	while ((pod = job_follower_next_pod(backend->seen, &place))) {
		if (!kube_backend_owns(backend, pod))
			continue;
		pending = mirror_table_get(&backend->pending, pod->name);
		struct observed_replica replica = copy_seen(&pod->seen, arena);

		if (pending_lay_over(pending, pod->uid, &replica))
			observed->replicas[observed->n_replicas++] = replica;
	}
	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));)
		if (pending->start != PENDING_NO_START)
			observed->replicas[observed->n_replicas++] =
				pending_observe_start(pending, arena);
}

/* Without a name by which it is found, no Pod is of use. */
static void lay_refusal_over(const struct kube_backend *backend, struct arena *arena,
			     struct observed *observed)
{
	for (size_t i = 0; backend->refusal && i < observed->n_replicas; i++) {
		struct observed_replica *replica = &observed->replicas[i];

		if (!observed_is_live(replica) || observed_was_asked_to_end(replica))
			continue;
		replica->phase = OBSERVED_FAILED;
		replica->reason = FAILURE_REFUSED;
		replica->message = arena_copy_text(arena, backend->refusal);
	}
}

static bool has_replica(const struct job *job, const char *role, size_t role_len, int index)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		const char *name = job->roles[i].name;

		if (strlen(name) == role_len && memcmp(name, role, role_len) == 0)
			return index < job->roles[i].replicas;
	}
	return false;
}

/* Services of replicas that a TFJob no longer has, also from before this process started. */
static void observe_left_services(const struct kube_backend *backend, const struct job *job,
				  struct arena *arena, struct observed *observed)
{
	const struct job_object *object;
	const char *role;
	const void *place = NULL;
	size_t role_len;
	int index;

	while ((object = job_follower_next_object(backend->seen, JOB_CACHE_SERVICES, &place))) {
		const struct prerequisite *service =
			kube_prerequisites_find(backend, &kube_services, object->name);
		bool is_being_taken_back = service && service->is_unwanted;

		if (!objects_read_pod_name(job, object->name, &role, &role_len, &index) ||
		    has_replica(job, role, role_len, index) ||
		    !kube_prerequisites_is_ours(backend, object) || is_being_taken_back)
			continue;
		observed->addresses[observed->n_addresses++] = (struct observed_address){
			.role = arena_format(arena, "%.*s", (int) role_len, role),
			.index = index,
			.address = arena_copy_text(arena, object->name),
		};
	}
}

static const struct tfjob_manner plain_manner = {.has_one_service = true};

/* `backend` may be NULL: the job is about to be created. */
static void observe_addresses(const struct kube_backend *backend, const struct job *job,
			      struct arena *arena, struct observed *observed)
{
	const struct tfjob_manner *manner = backend ? &backend->settings.manner : &plain_manner;
	const char *service = manner->has_one_service ? job->name : NULL;
	const struct json *taken_back = backend ? backend->taken_back : NULL;

	size_t n_services = backend ? job_follower_count(backend->seen, JOB_CACHE_SERVICES) : 0;

	observed->addresses = arena_take_array(arena, (size_t) job_replica_count(job) + n_services,
					       sizeof(*observed->addresses));
	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			const struct role *role = &job->roles[i];
			char *name CLEANUP(mem_free_text) = job_pod_name(job, role, index);
			struct text address CLEANUP(text_done) = {0};

			if (json_get(taken_back, name))
				continue;
			tf_cluster_add_kubeflow_address(job, role, index, service,
							manner->cluster_domain, &address);
			observed->addresses[observed->n_addresses++] = (struct observed_address){
				.role = arena_copy_text(arena, role->name),
				.index = index,
				.address = arena_copy_text(arena, text_of(&address)),
			};
		}
	if (backend)
		observe_left_services(backend, job, arena, observed);
}

/* The job may change (scaled, or asked to stop); what Pods are made from is then made again. */
static void update_backend_job(struct kube_backend *backend, const struct job *job)
{
	struct job *before = backend->job; /* of its present objects */

	if (before == job)
		return;
	backend->job = job_ref(job);
	backend->kind->take_job(backend);
	kube_backend_admit(backend, &backend->starts); /* the server may accept the new objects */
	job_free(before);
}

struct observed backend_kube_observe_new(const struct job *job, struct arena *arena)
{
	struct observed observed = {.traits = kube_kind_plain.traits};

	observe_addresses(NULL, job, arena, &observed);
	return observed;
}

static int kube_observe(struct backend *base, const struct job *job, struct arena *arena,
			struct observed *ret_observed, struct err *err)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	struct observed observed = {.traits = backend->kind->traits};

	update_backend_job(backend, job);
	if (!backend_kube_is_ready(base))
		return err_set(err, ERR_UNREACHABLE,
			       "the state of the cluster has not been read yet");
	observed.replicas = arena_take_array(
		arena, job_follower_count(backend->seen, JOB_CACHE_PODS) + backend->pending.count,
		sizeof(*observed.replicas));
	observe_pods(backend, arena, &observed);
	lay_refusal_over(backend, arena, &observed);
	observed.holds_starts = kube_prerequisites_block_pods(backend);
	/* An address is a name. The objects that give Pods their names are created with the first
	 * Pods (start). So Pods wait for no second decision, whose status would have to be written
	 * to the cluster first. */
	if (kube_prerequisites_exist(backend) ||
	    (observed.n_replicas == 0 && !observed.holds_starts))
		observe_addresses(backend, backend->job, arena, &observed);
	*ret_observed = observed;
	return 0;
}

static void start_replica_pod(struct kube_backend *backend, const struct action *action,
			      const char *pod_name)
{
	struct pending *pending =
		pending_at(&backend->pending, backend, pod_name, action->role, action->index);
	const struct job_pod *pod = job_follower_pod(backend->seen, pod_name);

	if (pending->start != PENDING_NO_START && pending->attempt == action->attempt)
		return;
	pending_drop_start(pending);
	pending->attempt = action->attempt;
	kube_prerequisites_create(backend);
	if (kube_backend_is_attempt(backend, pod, action->attempt)) {
		pending_drop_if_idle(&backend->pending, pending);
	} else if (pod && kube_backend_is_collected(pod)) {
		pending->start = PENDING_START_WAITS;
		if (!kube_backend_owns(backend, pod))
			kube_backend_report_earlier_pods(backend);
	} else {
		kube_backend_start(backend, pending);
	}
}

/* Ends an unwanted start that the cache does not show yet: its answer is waited for. */
static void end_start(struct kube_backend *backend, struct pending *pending, msec grace)
{
	pending->asked_at = loop_now();
	pending->kill_at = pending->asked_at + grace;
	pending->end_grace = grace;
	if (pending->start_call)
		pending->is_unwanted = true;
	else
		kube_backend_cancel_start(backend, pending);
}

static void terminate_replica_pod(struct kube_backend *backend, const struct job *job,
				  const struct action *action, const char *pod_name)
{
	const struct job_pod *pod = job_follower_pod(backend->seen, pod_name);
	struct pending *pending =
		pending_at(&backend->pending, backend, pod_name, action->role, action->index);
	msec grace = action->type == ACTION_STOP ? action->grace : 0;

	if (!kube_backend_is_attempt(backend, pod, action->attempt)) {
		if (pending->start != PENDING_NO_START && pending->attempt == action->attempt)
			end_start(backend, pending, grace);
		else
			pending_drop_if_idle(&backend->pending, pending);
		return;
	}
	/* Only a running process can be asked to exit by itself. */
	bool holds =
		backend->settings.holds && pod->seen.phase != OBSERVED_STARTING &&
		backend->settings.holds(job, action->role, action->index, backend->settings.data);
	bool is_end_told = text_equals(pending->ended_uid, pod->uid)
				   ? pending->is_end_told
				   : observed_was_asked_to_end(&pod->seen);

	pending_drop_end(pending);
	pending->is_end_told = is_end_told;
	pending->ended_uid = mem_copy_text(pod->uid);
	pending->asked_at = loop_now();
	pending->kill_at = pending->asked_at + grace;
	pending->end_grace = grace;
	pending->is_removed = action->type == ACTION_REMOVE;
	pending->is_held = holds;
	pending->held_until = loop_instant_after(grace);
	pending->end_waits =
		!holds && pending->is_removed && kube_backend_is_read(backend, pod_name, pod->uid);
	if (holds)
		kube_backend_send_term(backend, pending);
	else if (!pending->end_waits)
		kube_backend_delete_pod(backend, pending);
}

static int kube_apply(struct backend *base, const struct job *job, const struct action *action,
		      struct err *err)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	char *name CLEANUP(mem_free_text) =
		mem_format("%s-%s-%d", job->name, action->role, action->index);

	update_backend_job(backend, job);
	switch (action->type) {
	case ACTION_PUBLISH:
		json_remove(backend->taken_back, name);
		kube_prerequisites_require(backend, name);
		kube_prerequisites_create(backend);
		break;
	case ACTION_UNPUBLISH: /* a Service of the whole job stays for the other replicas */
		json_set_bool(backend->taken_back, name, true);
		kube_prerequisites_release(backend, name);
		break;
	case ACTION_START:
		start_replica_pod(backend, action, name);
		break;
	case ACTION_STOP:
	case ACTION_KILL:
	case ACTION_REMOVE:
		terminate_replica_pod(backend, job, action, name);
		break;
	case ACTION_TYPE_COUNT:
		return err_set(err, ERR_UNSUPPORTED, "no such action");
	}
	return 0;
}

/* The last lines of a failed Pod. */

/* How long the Pod stays for its lines, and blocks the name of the next attempt. */
#define PATIENCE MSEC_PER_SECOND
#define WORD_OF(macro) WORD_OF_VALUE(macro)
#define WORD_OF_VALUE(value) #value
/* Never reached, since a container runtime breaks lines at 16 KiB. */
#define MOST_BYTES 524288

static void finish_pod_tail(struct kube_backend *backend)
{
	kube_call_cancel(TAKE(backend->tail.call));
	loop_timer_arm(backend->tail.timer, INSTANT_NEVER);
	kube_backend_on_log_complete(backend);
}

static void on_timer(void *data)
{
	struct kube_backend *backend = data;

	if (backend->tail.call)
		finish_pod_tail(backend);
}

static void on_pod_tail_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_backend *backend = data;

	if (backend->tail.text.len + len <= MOST_BYTES)
		text_add_bytes(&backend->tail.text, bytes, len);
}

/* A container that never ran has no lines, which is reported elsewhere. */
static void on_pod_tail_end(const struct kube_result *result, void *data)
{
	struct kube_backend *backend = data;
	const struct err *err = result->err;

	if (err && err->code == ERR_REFUSED)
		kube_backend_trouble(backend, err);
	else if (err)
		log_debug("cannot read the last lines of a Pod: %s", err->text);
	finish_pod_tail(backend);
}

static void pod_tail_done(struct pod_tail *tail)
{
	kube_call_cancel(tail->call);
	loop_watch_free(tail->timer);
	text_done(&tail->text);
	free(tail->pod_name);
	free(tail->uid);
}

/* Requests the last lines of this Pod. An earlier request is dropped. */
static void pod_tail_ask(struct kube_backend *backend, const struct job_pod *pod)
{
	bool is_started_again = pod->seen.phase == OBSERVED_RUNNING && pod->n_restarts > 0 &&
				pod->seen.n_ends_in_place == pod->n_restarts;
	const struct kube_parameter parameters[] = {
		{"container", pod->container},
		{"tailLines", WORD_OF(LIMIT_LAST_LINES)},
		{"limitBytes", WORD_OF(MOST_BYTES)},
		{"previous", is_started_again ? "true" : NULL},
		{0},
	};
	const struct kube_request request = {
		KUBE_GET,          &kube_pods, backend->settings.job->name_space,
		pod->name,         "log",      .parameters = parameters,
		.is_relayed = true};

	pod_tail_done(&backend->tail);
	backend->tail = (struct pod_tail){
		.timer = loop_new_timer(backend->settings.api->loop, on_timer, backend),
		.pod_name = mem_copy_text(pod->name),
		.uid = mem_copy_text(pod->uid),
		.attempt = pod->seen.attempt,
		.n_ends_in_place = pod->seen.n_ends_in_place,
	};
	kube_stream_start(&backend->tail.call, backend->settings.api, &request, PATIENCE,
			  on_pod_tail_bytes, on_pod_tail_end, backend);
	loop_timer_arm_after(backend->tail.timer, PATIENCE);
}

/* At most LIMIT_LAST_LINES lines, oldest first, in the arena. ERR_UNREACHABLE: not arrived yet. */
static int pod_tail_read(const struct pod_tail *tail, struct arena *arena,
			 struct printed *ret_printed, struct err *err)
{
	const char **lines = arena_take_array(arena, LIMIT_LAST_LINES, sizeof(*lines));
	const char *at = text_of(&tail->text), *end = at + tail->text.len;
	size_t count = 0;

	if (tail->call)
		return err_set(err, ERR_UNREACHABLE, "the log of Pod '%s' did not arrive",
			       tail->pod_name);
	for (; at < end && count < LIMIT_LAST_LINES; count++) {
		const char *newline = memchr(at, '\n', (size_t) (end - at));
		size_t len = (size_t) ((newline ? newline : end) - at);

		size_t n_kept = len < LIMIT_LAST_LINE_LENGTH ? len : LIMIT_LAST_LINE_LENGTH;

		lines[count] = arena_format(arena, "%.*s", (int) n_kept, at);
		at += len + 1;
	}
	*ret_printed = (struct printed){.lines = lines, .count = count};
	return 0;
}

/* Requests the lines first, unless that was done. */
static int read_tail(struct kube_backend *backend, const char *pod_name, int attempt,
		     struct arena *arena, struct printed *ret_printed, struct err *err)
{
	const struct job_pod *pod = job_follower_pod(backend->seen, pod_name);
	const struct pod_tail *tail = &backend->tail;
	bool has_failed_since = pod && pod->seen.attempt == attempt &&
				pod->seen.n_ends_in_place > tail->n_ends_in_place;

	if (text_equals(tail->pod_name, pod_name) && tail->attempt == attempt && !has_failed_since)
		return pod_tail_read(tail, arena, ret_printed, err);
	if (!pod || !kube_backend_is_attempt(backend, pod, attempt))
		return err_set(err, ERR_NOT_FOUND, "Pod '%s' no longer exists", pod_name);
	pod_tail_ask(backend, pod);
	return err_set(err, ERR_UNREACHABLE, "requesting the log of Pod '%s'", pod_name);
}

static int kube_last_lines(struct backend *base, const struct job *job, const char *role, int index,
			   int attempt, size_t most, struct arena *arena,
			   struct printed *ret_printed, struct err *err)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	char *name CLEANUP(mem_free_text) = mem_format("%s-%s-%d", job->name, role, index);

	if (!backend->logs)
		return read_tail(backend, name, attempt, arena, ret_printed, err);
	return log_last_lines(backend->settings.log_folder, role, index, attempt, most, arena,
			      ret_printed, err);
}

static void on_backend_output(void *data)
{
	struct kube_backend *backend = data;

	if (backend->settings.on_output)
		backend->settings.on_output(backend->settings.data);
}

static void on_log_trouble(const char *sentence, void *data)
{
	struct err err;

	err_set(&err, ERR_IO, "%s", sentence);
	kube_backend_trouble(data, &err);
}

struct backend *backend_kube_new(const struct backend_kube_settings *settings)
{
	struct kube_backend *backend = mem_new(sizeof(*backend));
	const struct pod_logs_settings logs = {
		.api = settings->api,
		.namespace_name = settings->job->name_space,
		.folder = settings->log_folder,
		.copies = settings->copies,
		.tail = -1,
		.on_output = on_backend_output,
		.on_complete = kube_backend_on_log_complete,
		.complete_data = backend,
		.on_trouble = on_log_trouble,
		.data = backend,
	};

	backend->base.functions = &kube_functions;
	backend->settings = *settings;
	backend->kind = settings->is_tfjob ? &kube_kind_tfjob : &kube_kind_plain;
	if (!settings->is_tfjob)
		backend->settings.manner = plain_manner;
	backend->taken_back = json_new_object();
	if (settings->log_folder)
		backend->logs = pod_logs_new(&logs);
	backend->timer = loop_new_timer(settings->api->loop, kube_backend_try_again, backend);
	if (backend->kind->begin)
		backend->kind->begin(backend);
	kube_backend_follow(backend);
	return &backend->base;
}

/* A Pod that could not be started is observed as exited while the job keeps exited Pods. */
static bool is_anything_under_way(const struct kube_backend *backend)
{
	const struct pending *pending;

	for (const void *at = NULL; (pending = mirror_table_next(&backend->pending, &at));)
		if (pending->start != PENDING_START_IMPOSSIBLE && !pending->is_held)
			return true;
	return !kube_prerequisites_is_quiet(backend);
}

bool backend_kube_is_quiet(const struct backend *base)
{
	const struct kube_backend *backend = (struct kube_backend *) base;

	return !is_anything_under_way(backend) && !pod_logs_is_any_ended_open(backend->logs) &&
	       !pod_tail_is_open(&backend->tail, NULL);
}

/* A Pod with our labels that the job does not own is not deleted with it. */
static bool has_pods(const struct kube_backend *backend)
{
	const struct job_pod *pod;
	const void *place = NULL;

	while ((pod = job_follower_next_pod(backend->seen, &place)))
		if (kube_backend_owns(backend, pod))
			return true;
	return false;
}

bool backend_kube_is_empty(const struct backend *base)
{
	const struct kube_backend *backend = (const struct kube_backend *) base;

	return kube_backend_has_observed(backend) && !has_pods(backend) &&
	       !kube_prerequisites_is_any_shown(backend);
}

static void free_kube_backend(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;

	job_follower_free(backend->seen);
	pending_table_done(&backend->pending);
	kube_prerequisites_free(backend);
	free(backend->refusal);
	circuit_breaker_reset(&backend->starts);
	circuit_breaker_reset(&backend->ends);
	pod_logs_free(backend->logs);
	pod_tail_done(&backend->tail);
	loop_watch_free(backend->timer);
	objects_free(backend->objects);
	job_free(backend->job);
	json_free(backend->taken_back);
	free(backend->last_trouble);
	free(backend);
}

static const struct backend_functions kube_functions = {
	.name = "kubernetes",
	.observe = kube_observe,
	.apply = kube_apply,
	.last_lines = kube_last_lines,
	.free = free_kube_backend,
};

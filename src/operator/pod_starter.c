/* Each Pod goes through the steps below, one request at a time. After a failure it restarts from
 * the first step, after growing pauses: the server reports its progress. */
#include "operator/pod_starter.h"

#include "base/backoff.h"
#include "base/base64.h"
#include "io/random.h"
#include "kube/mirror_table.h"
#include "kube/tfjob_objects.h"
#include "spec/elasticdl.h"
#include "spec/pod_template.h"

#define ANSWER_LIMIT 4096
#define PATIENCE (30 * MSEC_PER_SECOND) /* for an answer of a Pod */
#define SLOT_TIME MSEC_PER_SECOND
#define FIRST_PAUSE 100
#define LONGEST_PAUSE (10 * MSEC_PER_SECOND)
#define MARK "muster/pod-server-ran" /* annotation for a Pod with an old server */

enum step {
	STEP_READ, /* the Pod: its TF_CONFIG, and whether it is marked */
	STEP_ASK, /* ask the server for its progress */
	STEP_CONFIGURE,
	STEP_MARK,
	STEP_RUN,
	STEP_DONE,
};

struct pod_start {
	struct pod_starter *starter;
	char *name, *uid;
	int attempt;
	int n_restarts; /* of the container, each with a server without state */
	enum step step;
	bool is_old; /* its server has no /status */
	bool is_marked;
	struct json *tf_config; /* NULL: the Pod has none */
	struct kube_call *call;
	struct text answer;
	struct request_slot slot; /* for its start: only a few Pods at a time … */
	instant slot_until; /* … and until then: an unresponsive Pod delays no others */
	int n_failures;
	instant again_at;
};

struct pod_starter {
	struct pod_starter_settings settings;
	struct job_follower *seen;
	struct loop_watch *timer;
	const char *secret_name; /* NULL: no secret is needed */
	char *secret; /* NULL: not known yet */
	struct kube_call *secret_call;
	int n_secret_failures;
	instant secret_again_at;
	struct mirror_table starts; /* of struct pod_start, by Pod */
};

static instant next_pod_start_try(int n_failures)
{
	return loop_instant_after(backoff_pause(FIRST_PAUSE, LONGEST_PAUSE, n_failures));
}

static void on_pod_starter_timer(void *data);

static void report_pod_start_trouble(struct pod_starter *starter, const struct err *err)
{
	starter->settings.on_trouble(err, starter->settings.data);
}

/* The secret. */

static void ask_for_secret(struct pod_starter *starter);

static void secret_failed(struct pod_starter *starter, const struct err *err)
{
	starter->secret_again_at = next_pod_start_try(++starter->n_secret_failures);
	loop_timer_arm_after(starter->timer, 0); /* checks what is due first */
	report_pod_start_trouble(starter, err);
}

/* Another client may have created it meanwhile: then that one is used. */
static void on_exec_secret_created(const struct kube_result *result, void *data)
{
	struct pod_starter *starter = data;
	const struct err *err = result->err;

	if (err && err->code != ERR_EXISTS)
		secret_failed(starter, err);
	else
		ask_for_secret(starter);
}

static void make_secret(struct pod_starter *starter)
{
	const struct job *job = starter->settings.job;
	char *secret CLEANUP(mem_free_secret) = random_token();
	struct json *body CLEANUP(json_cleanup_secret) =
		json_new_texts("apiVersion", "v1", "kind", "Secret", "type", "Opaque", NULL);
	const struct kube_request request = {KUBE_CREATE, &kube_secrets, job->name_space,
					     .body = body};

	json_set(body, "metadata", tfjob_metadata_new(job, starter->secret_name, job->uid));
	json_set_bool(body, "immutable", true);
	json_set_string(json_object_at(body, "stringData"), ELASTICDL_SECRET_KEY, secret);
	kube_call_start(&starter->secret_call, starter->settings.api, &request,
			on_exec_secret_created, starter);
}

static void on_secret(const struct kube_result *result, void *data)
{
	struct pod_starter *starter = data;
	const struct err *err = result->err;
	const char *value = json_as_string(
		json_get_path(result->object, "data", ELASTICDL_SECRET_KEY, NULL), "");
	struct err fault = {0};
	size_t len;

	if (err && err->code == ERR_NOT_FOUND) {
		make_secret(starter);
	} else if (err) {
		secret_failed(starter, err);
	} else if (base64_read(value, strlen(value), &starter->secret, &len, &fault) < 0) {
		secret_failed(starter, &fault);
	} else {
		on_pod_starter_timer(starter);
	}
}

static void ask_for_secret(struct pod_starter *starter)
{
	const struct kube_request request = {
		KUBE_GET, &kube_secrets, starter->settings.job->name_space, starter->secret_name};

	kube_call_start(&starter->secret_call, starter->settings.api, &request, on_secret, starter);
}

/* The steps of a Pod. */

static void start_free(struct pod_start *start)
{
	request_slot_release(&start->slot);
	kube_call_cancel(start->call);
	text_done(&start->answer);
	json_free(start->tf_config);
	free(start->name);
	free(start->uid);
	free(start);
}

static void perform_pod_start_step(struct pod_start *start);

static void enter_pod_start_step(struct pod_start *start, enum step step)
{
	start->step = step;
	perform_pod_start_step(start);
}

static void start_failed(struct pod_start *start, const struct err *err)
{
	struct err told = *err;

	request_slot_release(&start->slot);
	start->step = STEP_READ;
	start->again_at = next_pod_start_try(++start->n_failures);
	loop_timer_arm_after(start->starter->timer, 0);
	/* At first it is not listening yet. */
	if (start->n_failures > 3) {
		err_prefix(&told, "Pod '%s' cannot be told to start its training", start->name);
		report_pod_start_trouble(start->starter, &told);
	}
}

static void read_pod(struct pod_start *start, const struct json *pod)
{
	const struct json *environment = json_get(pod_template_container(pod), "env");
	const struct json *annotations = json_get_path(pod, "metadata", "annotations", NULL);
	const char *text = NULL;

	/* The last of two equal names counts. */
	for (size_t i = 0; i < json_count(environment); i++)
		if (text_equals(json_get_string(json_at(environment, i), "name", ""), "TF_CONFIG"))
			text = json_get_string(json_at(environment, i), "value", NULL);
	start->is_old = false;
	start->is_marked = json_get(annotations, MARK);
	json_free(TAKE(start->tf_config));
	if (text && json_read(text, strlen(text), &start->tf_config, NULL) < 0)
		start->tf_config = NULL;
}

/* The API server has answered a step about the Pod: it was read, or marked. */
static void on_pod_request_end(const struct kube_result *result, void *data)
{
	struct pod_start *start = data;

	if (result->err) {
		start_failed(start, result->err);
	} else if (start->step == STEP_READ) {
		read_pod(start, result->object);
		enter_pod_start_step(start, STEP_ASK);
	} else {
		enter_pod_start_step(start, STEP_RUN);
	}
}

/* The server of the Pod has answered the step. */
static void end_step(struct pod_start *start)
{
	struct json *answer CLEANUP(json_cleanup) = NULL;
	const char *state = "";

	if (start->step == STEP_ASK &&
	    json_read(text_of(&start->answer), start->answer.len, &answer, NULL) == 0)
		state = json_get_string(answer, "state", "");
	if (start->step == STEP_CONFIGURE)
		enter_pod_start_step(start, start->is_old ? STEP_MARK : STEP_RUN);
	else if (start->step == STEP_RUN || text_equals(state, "Running") ||
		 text_equals(state, "Ended"))
		enter_pod_start_step(start, STEP_DONE);
	else
		enter_pod_start_step(start, STEP_CONFIGURE);
}

static void on_pod_start_answer(const struct kube_result *result, void *data)
{
	struct pod_start *start = data;
	const struct err *err = result->err;

	struct err fault = {0};

	if (err)
		fault = *err;
	/* The API server was reached, but the Pod was not. */
	if (err && result->status->code)
		fault.code = ERR_IO;
	if (err && start->step == STEP_ASK && err->code == ERR_NOT_FOUND) {
		start->is_old = true;
		enter_pod_start_step(start, start->is_marked ? STEP_DONE : STEP_CONFIGURE);
	} else if (err) {
		start_failed(start, &fault);
	} else {
		end_step(start);
	}
}

static void on_pod_start_bytes(const char *bytes, size_t len, void *data)
{
	struct pod_start *start = data;
	size_t room = ANSWER_LIMIT - start->answer.len;

	text_add_bytes(&start->answer, bytes, len < room ? len : room);
}

static void ask_pod(struct pod_start *start, enum kube_verb verb, const char *path,
		    const struct json *body)
{
	const struct pod_starter_settings *settings = &start->starter->settings;
	char *place CLEANUP(mem_free_text) =
		mem_format("%s:%d", start->name, settings->job->pod_server_port);
	const struct kube_request request = {
		.verb = verb,
		.resource = &kube_pods,
		.namespace_name = settings->job->name_space,
		.name = place,
		.subresource = "proxy",
		.path = path,
		.pod_secret = start->starter->secret,
		.body = body,
		.is_relayed = true,
	};

	text_clear(&start->answer);
	kube_stream_start(&start->call, settings->api, &request, PATIENCE, on_pod_start_bytes,
			  on_pod_start_answer, start);
}

/* A single-Pod TFJob has no TF_CONFIG, but exec.py always reads one. */
static struct json *config_of_one(const struct job *job)
{
	struct json *config = json_new_object();
	char *address CLEANUP(mem_free_text) = mem_format("localhost:%d", job->roles[0].port);
	struct json *task = json_object_at(config, "task");

	json_append(json_array_at(json_object_at(config, "cluster"), "worker"),
		    json_new_string(address));
	json_set_string(task, "type", "worker");
	json_set_integer(task, "index", 0);
	return config;
}

static void configure(struct pod_start *start)
{
	const struct job *job = start->starter->settings.job;
	const struct role *workers = job_role_of_kind(job, ROLE_WORKER);
	char *set_id CLEANUP(mem_free_text) = mem_format("%d", start->attempt);
	struct json *body CLEANUP(json_cleanup) =
		json_new_texts("MASTER", "muster", "SET_ID", set_id, NULL);

	json_set_integer(body, "NUM_WORKERS", workers ? workers->replicas : 0);
	json_set(body, "TF_CONFIG",
		 start->tf_config ? json_ref(start->tf_config) : config_of_one(job));
	ask_pod(start, KUBE_CREATE, "config", body);
}

/* Adds the mark. The uid in the patch makes it fail if the name is another Pod's by now. */
static void mark(struct pod_start *start)
{
	const struct pod_starter_settings *settings = &start->starter->settings;
	struct json *body CLEANUP(json_cleanup) = json_new_object();
	struct json *metadata = json_object_at(body, "metadata");
	const struct kube_request request = {KUBE_PATCH, &kube_pods, settings->job->name_space,
					     start->name, .body = body};

	json_set_string(metadata, "uid", start->uid);
	json_set_string(json_object_at(metadata, "annotations"), MARK, "true");
	kube_call_start(&start->call, settings->api, &request, on_pod_request_end, start);
}

static void perform_pod_start_step(struct pod_start *start)
{
	const struct pod_starter_settings *settings = &start->starter->settings;
	const struct kube_request read = {KUBE_GET, &kube_pods, settings->job->name_space,
					  start->name};

	switch (start->step) {
	case STEP_READ:
		kube_call_start(&start->call, settings->api, &read, on_pod_request_end, start);
		break;
	case STEP_ASK:
		ask_pod(start, KUBE_GET, "status", NULL);
		break;
	case STEP_CONFIGURE:
		configure(start);
		break;
	case STEP_MARK:
		mark(start);
		break;
	case STEP_RUN:
		ask_pod(start, KUBE_GET, "run", NULL);
		break;
	case STEP_DONE:
		request_slot_release(&start->slot);
		break;
	}
}

/* The Pods. */

/* The name may now be another Pod's, or no Pod's, or the Pod has ended. */
static void observe_startable_pod(struct pod_starter *starter, const char *name)
{
	const struct job_pod *pod = job_follower_pod(starter->seen, name);
	struct pod_start *start = mirror_table_get(&starter->starts, name);
	bool is_running = pod && text_equals(pod->owner_uid, starter->settings.job->uid) &&
			  pod->seen.phase == OBSERVED_RUNNING &&
			  !observed_was_asked_to_end(&pod->seen);

	if (start && !(is_running && text_equals(pod->uid, start->uid) &&
		       pod->n_restarts == start->n_restarts)) {
		mirror_table_drop(&starter->starts, name);
		start_free(TAKE(start));
	}
	if (!is_running || start)
		return;
	start = mem_new(sizeof(*start));
	start->starter = starter;
	start->name = mem_copy_text(pod->name);
	start->uid = mem_copy_text(pod->uid);
	start->attempt = pod->seen.attempt;
	start->n_restarts = pod->n_restarts;
	mirror_table_put(&starter->starts, pod->name)->kept = start;
}

static void on_slot(void *data)
{
	const struct pod_start *start = data;

	loop_timer_arm_after(start->starter->timer, 0);
}

/* Takes its first step when it is due and has its slot. Returns when to look again; INSTANT_NEVER:
 * after an event. */
static instant attend(struct pod_start *start, instant now)
{
	const struct pod_starter_settings *settings = &start->starter->settings;

	if (start->step == STEP_DONE)
		return INSTANT_NEVER;
	if (!start->call && !instant_has_come(start->again_at, now))
		return start->again_at;
	if (!start->call) {
		if (!request_slot_acquire(&start->slot, &settings->api->limiter, REQUEST_STREAM,
					  settings->job->name_space, on_slot, start))
			return INSTANT_NEVER;
		start->slot_until = instant_add(now, SLOT_TIME);
		perform_pod_start_step(start);
	} else if (instant_has_come(start->slot_until, now)) {
		request_slot_release(&start->slot);
		return INSTANT_NEVER;
	}
	return start->slot_until;
}

/* Runs what is due and arms the timer for the next. */
static void on_pod_starter_timer(void *data)
{
	struct pod_starter *starter = data;
	instant now = loop_monotonic_now(), wake_at = INSTANT_NEVER;
	bool is_missing = starter->secret_name && !starter->secret;
	struct pod_start *start;

	if (is_missing && !starter->secret_call && instant_has_come(starter->secret_again_at, now))
		ask_for_secret(starter);
	if (is_missing && !starter->secret_call)
		wake_at = starter->secret_again_at;
	for (const void *at = NULL;
	     !is_missing && (start = mirror_table_next(&starter->starts, &at));)
		wake_at = instant_min(wake_at, attend(start, now));
	loop_timer_arm(starter->timer, wake_at);
}

/* Many changes come at the same time. */
static void on_starting_pod_change(enum job_cache_kind kind, const char *name, void *data)
{
	struct pod_starter *starter = data;

	if (kind != JOB_CACHE_PODS)
		return;
	observe_startable_pod(starter, name);
	loop_timer_arm_after(starter->timer, 0);
}

struct pod_starter *pod_starter_new(const struct pod_starter_settings *settings)
{
	struct pod_starter *starter = mem_new(sizeof(*starter));
	const struct job_pod *pod;
	const void *place = NULL;
	const struct job_follower_settings follower = {
		.namespace_name = settings->job->name_space,
		.job_name = settings->job->name,
		.on_change = on_starting_pod_change,
		.data = starter,
	};

	starter->settings = *settings;
	starter->secret_name = elasticdl_secret_of(settings->job);
	starter->timer = loop_new_timer(settings->api->loop, on_pod_starter_timer, starter);
	starter->seen = job_cache_follow(settings->cache, &follower);
	while ((pod = job_follower_next_pod(starter->seen, &place)))
		observe_startable_pod(starter, pod->name);
	loop_timer_arm_after(starter->timer, 0);
	return starter;
}

void pod_starter_free(struct pod_starter *starter)
{
	struct pod_start *start;

	if (!starter)
		return;
	for (const void *at = NULL; (start = mirror_table_next(&starter->starts, &at));)
		start_free(start);
	mirror_table_done(&starter->starts);
	kube_call_cancel(starter->secret_call);
	job_follower_free(starter->seen);
	loop_watch_free(starter->timer);
	mem_free_secret(&starter->secret);
	free(starter);
}

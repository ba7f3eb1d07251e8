/* First the given servers are asked, then the tasks of their cluster are found, then each is tried.
 *
 * At first the whole cluster is asked for its tasks, which takes a few milliseconds if all of it is
 * up. If not, CreateSession waits for missing tasks and never names them. A session limited to one
 * task has three results: the task's devices, nothing (the cluster has no such task), and silence
 * (the task exists but is not up). So the tasks are found by their names. */
#include "check/probe.h"

#include "io/loop.h"
#include "spec/limits.h"
#include "tensorflow/network_probe.h"
#include "tensorflow/session.h"

/* For the first try with all: a slower task is found by name. */
#define ALL_AT_ONCE ((msec) 3000)
#define STEP_DEVICES "devices"
#define STEP_SESSION "session"

/* Job names of TFConfigClusterResolver and the older tools. */
static const char *const usual_jobs[] = {"chief", "master", "worker", "ps", "evaluator"};

/* A given server: whether it can be reached, and which task it is. */
struct probe_server {
	const struct check_server *at;
	const char *job; /* of its task; NULL: not reported yet */
	const char *error; /* a sentence; NULL: none so far */
	const char *code; /* TensorFlow's code of the error */
};

/* A task that answered. The session stays open from step to step. */
struct probe_task {
	const char *name, *job; /* "worker-0", "worker" */
	int index;
	struct session *session; /* NULL: it did not list its devices */
	const char **full_names; /* of the devices that run operations */
	struct json *devices; /* their short names: "CPU:0" */
};

struct probe {
	const struct probe_request *request;
	struct library *library;
	struct arena *arena; /* for all texts */
	struct probe_server *servers; /* as many as in the request */
	const char *master; /* address of the first one that answered; NULL: none */
	struct probe_task *tasks;
	size_t n_tasks, capacity;
	size_t n_failures;
	/* Of the last session: why it did not answer, and TensorFlow's code for it. */
	struct err err;
	const char *code;
	bool is_lost; /* the master itself became silent */
};

static void probe_done(struct probe *probe)
{
	for (size_t i = 0; i < probe->n_tasks; i++) {
		session_close(probe->tasks[i].session);
		json_free(probe->tasks[i].devices);
	}
	free(probe->tasks);
	arena_free(probe->arena);
}

/* Events. */

static void PRINTF_LIKE(2, 3) begin(const struct probe *probe, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *doing CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	probe->request->on_begin(doing, probe->request->data);
}

/* `kind` is "devices" or "ran". Takes over the list. */
static void tell_devices(const struct probe *probe, const char *kind, const char *task,
			 struct json *take_devices, instant start)
{
	struct json *event CLEANUP(json_cleanup) =
		json_new_texts("muster", kind, "task", task, NULL);
	msec duration = instant_since(start, loop_monotonic_now());

	json_set(event, "devices", take_devices);
	json_set(event, "seconds", json_new_real((double) duration / MSEC_PER_SECOND));
	probe->request->tell(event, probe->request->data);
}

/* `task` and `server` may be NULL. */
static void tell_error(struct probe *probe, const char *step, const char *task, const char *server,
		       const char *code, const char *message)
{
	struct json *event CLEANUP(json_cleanup) =
		json_new_texts("muster", "error", "step", step, "task", task, "server", server,
			       "code", code, "message", message, NULL);

	probe->request->tell(event, probe->request->data);
	probe->n_failures++;
}

/* Opens a session at a server and lists the devices that it reaches. Errors are in the probe. */
static int ask(struct probe *probe, const struct session_target *target,
	       struct session **ret_session, const struct session_device **ret_devices,
	       size_t *ret_count)
{
	struct session *session CLEANUP(session_cleanup) = NULL;
	int rc = session_open(probe->library, target, &session, &probe->err);

	if (rc == 0)
		rc = session_list_devices(session, ret_devices, ret_count, &probe->err);
	probe->code = session ? session_code(session) : "INVALID_ARGUMENT";
	if (rc == 0)
		*ret_session = TAKE(session);
	return rc;
}

/* The given servers. */

static void on_finding(size_t peer, const struct network_finding *finding, void *data)
{
	struct probe *probe = data;
	struct probe_server *server = &probe->servers[peer];

	if (finding->stage == NETWORK_DONE)
		return;
	server->error = arena_format(probe->arena, "%s cannot be reached: %s", server->at->url,
				     finding->error);
	server->code = "UNAVAILABLE";
}

/* Tests whether their ports open. Forks, so TensorFlow must not have been loaded. */
static int reach_servers(struct probe *probe, struct err *err)
{
	size_t count = probe->request->n_servers;
	struct network_peer *peers = arena_take_array(probe->arena, count, sizeof(*peers));

	probe->servers = arena_take_array(probe->arena, count, sizeof(*probe->servers));
	for (size_t i = 0; i < count; i++) {
		const struct check_server *at = probe->servers[i].at = &probe->request->servers[i];

		peers[i] = (struct network_peer){
			.name = at->place, .host = at->host, .port = at->port};
	}
	const struct network_probe_settings settings = {
		.peers = peers,
		.n_peers = count,
		.own = count,
		.timeout = probe->request->timeout,
		.tell = on_finding,
		.data = probe,
	};

	return network_probe_run(&settings, err);
}

static bool is_any_reached(const struct probe *probe)
{
	for (size_t i = 0; i < probe->request->n_servers; i++)
		if (!probe->servers[i].error)
			return true;
	return false;
}

/* A session limited to the master lists only the server's own devices. */
static void ask_server(struct probe *probe, struct probe_server *server)
{
	const struct session_target target = {server->at->url, SESSION_MASTER, NULL, 0,
					      probe->request->timeout};
	struct session *session CLEANUP(session_cleanup) = NULL;
	const struct session_device *devices;
	size_t count = 0;

	begin(probe, "asking %s which task it is", server->at->url);
	if (ask(probe, &target, &session, &devices, &count) < 0) {
		bool is_silent = probe->err.code == ERR_UNREACHABLE;

		server->code = probe->code;
		server->error = arena_format(
			probe->arena, "%s: %s%s", server->at->url, probe->err.text,
			is_silent ? " (its port is open: it is stopped, busy, or not a TensorFlow "
				    "server)"
				  : "");
	} else if (count > 0) {
		server->job = arena_copy_text(probe->arena, devices[0].name.job);
		if (!probe->master)
			probe->master = server->at->url;
	}
}

/* The tasks of the cluster. */

static void add_task(struct probe *probe, const struct device_name *device)
{
	for (size_t i = 0; i < probe->n_tasks; i++)
		if (text_equals(probe->tasks[i].job, device->job) &&
		    probe->tasks[i].index == device->task)
			return;
	mem_grow(&probe->tasks, &probe->capacity, probe->n_tasks, sizeof(*probe->tasks));
	probe->tasks[probe->n_tasks++] = (struct probe_task){
		.name = arena_format(probe->arena, "%s-%d", device->job, device->task),
		.job = arena_copy_text(probe->arena, device->job),
		.index = device->task,
	};
}

enum answer { ANSWER_YES, ANSWER_NO, ANSWER_SILENCE };

/* Adds the tasks whose devices are listed. ANSWER_NO: the asked task does not exist. */
static enum answer ask_for_tasks(struct probe *probe, enum session_reach reach, const char *job,
				 int index, msec timeout)
{
	const struct session_target target = {probe->master, reach, job, index, timeout};
	struct session *session CLEANUP(session_cleanup) = NULL;
	const struct session_device *devices;
	enum answer answer = reach == SESSION_TASK ? ANSWER_NO : ANSWER_YES;
	size_t count = 0;

	if (reach == SESSION_TASK)
		begin(probe, "asking for %s-%d", job, index);
	else
		begin(probe, "asking %s for its tasks", probe->master);
	if (ask(probe, &target, &session, &devices, &count) < 0)
		return ANSWER_SILENCE;
	for (size_t i = 0; i < count; i++) {
		add_task(probe, &devices[i].name);
		if (reach == SESSION_TASK && text_equals(devices[i].name.job, job) &&
		    devices[i].name.task == index)
			answer = ANSWER_YES;
	}
	return answer;
}

/* `who` is used if no task is known by name. */
static void tell_silence(struct probe *probe, const char *task, const char *server, const char *who)
{
	char *message CLEANUP(mem_free_text) = mem_format(
		"%s: %s (asked through %s)", task ? task : who, probe->err.text, probe->master);

	tell_error(probe, STEP_DEVICES, task, server, probe->code, message);
}

/* The silence may be the master's own, and would repeat for every name. */
static void handle_silence(struct probe *probe, const char *job, int index)
{
	char *task CLEANUP(mem_free_text) = mem_format("%s-%d", job, index);
	struct err err = probe->err;
	const char *code = probe->code;

	probe->is_lost = ask_for_tasks(probe, SESSION_MASTER, NULL, 0, probe->request->timeout) ==
			 ANSWER_SILENCE;
	if (probe->is_lost) {
		tell_silence(probe, NULL, probe->master, probe->master);
		return;
	}
	probe->err = err;
	probe->code = code;
	tell_silence(probe, task, NULL, NULL);
}

static void find_tasks_of_job(struct probe *probe, const char *job)
{
	for (int index = 0; index < LIMIT_REPLICAS && !probe->is_lost; index++) {
		enum answer answer =
			ask_for_tasks(probe, SESSION_TASK, job, index, probe->request->timeout);

		if (answer == ANSWER_NO)
			return;
		if (answer == ANSWER_SILENCE)
			handle_silence(probe, job, index);
	}
}

/* Position among the usual jobs; all others have the last rank. */
static size_t rank_of(const char *job)
{
	size_t rank = 0;

	while (rank < ARRAY_LEN(usual_jobs) && !text_equals(usual_jobs[rank], job))
		rank++;
	return rank;
}

/* An earlier server of the list has the same job. */
static bool came_before(const struct probe *probe, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (text_equals(probe->servers[i].job, probe->servers[index].job))
			return true;
	return false;
}

static void find_tasks_by_name(struct probe *probe)
{
	for (size_t i = 0; i < ARRAY_LEN(usual_jobs); i++)
		find_tasks_of_job(probe, usual_jobs[i]);
	for (size_t i = 0; i < probe->request->n_servers; i++) {
		const char *job = probe->servers[i].job;

		if (job && rank_of(job) == ARRAY_LEN(usual_jobs) && !came_before(probe, i))
			find_tasks_of_job(probe, job);
	}
}

/* Usual jobs first, then the others by name. */
static int compare_tasks(const void *a, const void *b)
{
	const struct probe_task *one = a, *other = b;
	size_t rank = rank_of(one->job), other_rank = rank_of(other->job);

	if (rank != other_rank)
		return rank < other_rank ? -1 : 1;
	int by_name = strcmp(one->job, other->job);

	return by_name ? by_name : (one->index > other->index) - (one->index < other->index);
}

static void find_tasks(struct probe *probe)
{
	msec timeout = probe->request->timeout;

	if (ask_for_tasks(probe, SESSION_ALL, NULL, 0, msec_min(timeout, ALL_AT_ONCE)) !=
	    ANSWER_YES) {
		find_tasks_by_name(probe);
		if (probe->n_failures == 0 &&
		    ask_for_tasks(probe, SESSION_ALL, NULL, 0, timeout) == ANSWER_SILENCE)
			tell_silence(probe, NULL, NULL, "a task of a job with a name of its own");
	}
	if (probe->n_tasks > 0)
		qsort(probe->tasks, probe->n_tasks, sizeof(*probe->tasks), compare_tasks);
}

/* The trial of each task. */

/* TensorFlow reports success although the product is wrong. */
static void tell_failure(struct probe *probe, const char *step, const struct probe_task *task)
{
	char *message CLEANUP(mem_free_text) = mem_format("%s: %s", task->name, probe->err.text);

	tell_error(probe, step, task->name, NULL,
		   probe->err.code == ERR_IO ? "DATA_LOSS" : probe->code, message);
}

/* CPUs and GPUs multiply matrices; other devices (XLA's own, for example) are only listed. Every
 * list includes the master's own devices. */
static void list_devices(struct probe *probe, struct probe_task *task)
{
	const struct session_target target = {probe->master, SESSION_TASK, task->job, task->index,
					      probe->request->timeout};
	const struct session_device *devices;
	instant start = loop_monotonic_now();
	struct json *listed = json_new_array();
	size_t count = 0;

	begin(probe, "asking %s for its devices", task->name);
	if (ask(probe, &target, &task->session, &devices, &count) < 0) {
		json_free(listed);
		tell_failure(probe, STEP_DEVICES, task);
		return;
	}
	task->devices = json_new_array();
	task->full_names = arena_take_array(probe->arena, count, sizeof(char *));
	for (size_t i = 0; i < count; i++) {
		const struct device_name *name = &devices[i].name;

		if (!text_equals(name->job, task->job) || name->task != task->index)
			continue;
		json_append(listed, json_new_string(name->device));
		if (!text_equals(name->kind, "CPU") && !text_equals(name->kind, "GPU"))
			continue;
		task->full_names[json_count(task->devices)] =
			arena_copy_text(probe->arena, devices[i].full_name);
		json_append(task->devices, json_new_string(name->device));
	}
	tell_devices(probe, "devices", task->name, listed, start);
}

static void run_operations(struct probe *probe, struct probe_task *task)
{
	instant start = loop_monotonic_now();

	for (size_t i = 0; i < json_count(task->devices); i++) {
		const char *device = json_as_string(json_at(task->devices, i), "");

		begin(probe, "running an operation on %s of %s", device, task->name);
		if (session_multiply(task->session, task->full_names[i], &probe->err) == 0)
			continue;
		err_prefix(&probe->err, "an operation does not run on %s", device);
		probe->code = session_code(task->session);
		tell_failure(probe, STEP_SESSION, task);
		return;
	}
	if (task->session)
		tell_devices(probe, "ran", task->name, json_ref(task->devices), start);
}

static int try_cluster(struct probe *probe, struct err *err)
{
	const struct probe_request *request = probe->request;
	int rc = request->open_library(&probe->library, request->data, err);

	if (rc == 0)
		rc = session_check_library(probe->library, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < request->n_servers; i++)
		if (!probe->servers[i].error)
			ask_server(probe, &probe->servers[i]);
	if (!probe->master)
		return 0;
	find_tasks(probe);
	for (size_t i = 0; i < probe->n_tasks; i++)
		list_devices(probe, &probe->tasks[i]);
	for (size_t i = 0; i < probe->n_tasks; i++)
		run_operations(probe, &probe->tasks[i]);
	return 0;
}

int probe_run(const struct probe_request *request, struct err *err)
{
	struct probe probe CLEANUP(probe_done) = {.request = request, .arena = arena_new()};
	int rc = reach_servers(&probe, err);

	/* Without a reachable server TensorFlow need not be loaded. */
	if (rc == 0 && is_any_reached(&probe))
		rc = try_cluster(&probe, err);
	if (rc < 0)
		return rc;
	/* Reported last, after the tasks that are missing by name. */
	for (size_t i = 0; i < request->n_servers; i++) {
		const struct probe_server *server = &probe.servers[i];

		if (server->error)
			tell_error(&probe, STEP_DEVICES, NULL, server->at->url, server->code,
				   server->error);
	}
	if (probe.n_failures > 0)
		return err_set(err, ERR_UNREACHABLE, "some servers could not be reached");
	return 0;
}

/* The steps of a probe, one after the other. */
#include "check/probe.h"

#include "base/mem.h"
#include "base/text.h"
#include "check/probe_event.h"
#include "check/probe_servers.h"
#include "check/probe_tasks.h"
#include "io/loop.h"
#include "tensorflow/session.h"

#include <stdlib.h>

/* The tests of one task. The session stays open from step to step. */
struct trial {
	const struct probe_task *task;
	struct session *session; /* NULL: it did not answer */
	const char **devices; /* all devices: "CPU:0" */
	const char **full_names; /* of those that run operations */
	const char **short_names;
	size_t n_devices, n_runs;
};

struct probe {
	const struct probe_request *request;
	struct library *library;
	struct probe_servers servers;
	struct probe_tasks tasks;
	struct trial *trials; /* one for each task */
	size_t n_failures;
	struct arena *arena; /* for the device names */
};

static void probe_done(struct probe *probe)
{
	for (size_t i = 0; probe->trials && i < probe->tasks.count; i++)
		session_close(probe->trials[i].session);
	free(probe->trials);
	probe_tasks_done(&probe->tasks);
	probe_servers_done(&probe->servers);
	arena_free(probe->arena);
}

static double seconds_since(instant start)
{
	return (double) instant_since(start, loop_monotonic_now()) / (double) MSEC_PER_SECOND;
}

static void report_probe_failure(struct probe *probe, enum probe_step step,
				 const struct trial *trial, const struct session *session,
				 const struct err *err)
{
	char *message CLEANUP(mem_free_text) = mem_format("%s: %s", trial->task->name, err->text);
	const char *code = session ? session_code(session) : "INVALID_ARGUMENT";

	/* TensorFlow reports success although the product is wrong. */
	probe_report_error(probe->request, step, trial->task->name, NULL,
			   err->code == ERR_IO ? "DATA_LOSS" : code, message);
	probe->n_failures++;
}

/* CPUs and GPUs multiply matrices; other devices (XLA's own, for example) are only listed. */
static bool runs_operations(const struct device_name *name)
{
	return text_equals(name->kind, "CPU") || text_equals(name->kind, "GPU");
}

static void store_trial_devices(struct probe *probe, struct trial *trial,
				const struct session_device *devices, size_t count)
{
	struct arena *arena = probe->arena;

	trial->devices = arena_take_array(arena, count, sizeof(char *));
	trial->full_names = arena_take_array(arena, count, sizeof(char *));
	trial->short_names = arena_take_array(arena, count, sizeof(char *));
	for (size_t i = 0; i < count; i++) {
		const struct device_name *name = &devices[i].name;
		const char *device = arena_copy_text(arena, name->device);

		/* Every list includes the master's own devices. */
		if (!text_equals(name->job, trial->task->job) || name->task != trial->task->index)
			continue;
		trial->devices[trial->n_devices++] = device;
		if (!runs_operations(name))
			continue;
		trial->short_names[trial->n_runs] = device;
		trial->full_names[trial->n_runs++] = arena_copy_text(arena, devices[i].full_name);
	}
}

static void list_devices(struct probe *probe, struct trial *trial)
{
	const struct session_target target = {
		.master = probe_servers_first(&probe->servers)->at->url,
		.reach = SESSION_TASK,
		.job = trial->task->job,
		.task = trial->task->index,
		.timeout = probe->request->timeout,
	};
	struct session *session CLEANUP(session_cleanup) = NULL;
	const struct session_device *devices;
	instant start = loop_monotonic_now();
	struct err err = {0};
	size_t count;

	probe_begin(probe->request, "asking %s for its devices", trial->task->name);
	if (session_open(probe->library, &target, &session, &err) ||
	    session_list_devices(session, &devices, &count, &err)) {
		report_probe_failure(probe, PROBE_DEVICES, trial, session, &err);
		return;
	}
	store_trial_devices(probe, trial, devices, count);
	probe_report_devices(probe->request, "devices", trial->task->name, trial->devices,
			     trial->n_devices, seconds_since(start));
	trial->session = TAKE(session);
}

static void run_operations(struct probe *probe, struct trial *trial)
{
	instant start = loop_monotonic_now();
	struct err err = {0};

	if (!trial->session)
		return;
	for (size_t i = 0; i < trial->n_runs; i++) {
		probe_begin(probe->request, "running an operation on %s of %s",
			    trial->short_names[i], trial->task->name);
		if (!session_multiply(trial->session, trial->full_names[i], &err))
			continue;
		err_prefix(&err, "an operation does not run on %s", trial->short_names[i]);
		report_probe_failure(probe, PROBE_SESSION, trial, trial->session, &err);
		return;
	}
	probe_report_devices(probe->request, "ran", trial->task->name, trial->short_names,
			     trial->n_runs, seconds_since(start));
}

static void try_tasks(struct probe *probe)
{
	probe->trials = mem_new_array(probe->tasks.count, sizeof(*probe->trials));
	for (size_t i = 0; i < probe->tasks.count; i++) {
		probe->trials[i].task = &probe->tasks.tasks[i];
		list_devices(probe, &probe->trials[i]);
	}
	for (size_t i = 0; i < probe->tasks.count; i++)
		run_operations(probe, &probe->trials[i]);
}

/* Reported last, after the tasks that are missing by name. */
static void report_lost_servers(struct probe *probe)
{
	for (size_t i = 0; i < probe->servers.count; i++) {
		const struct probe_server *server = &probe->servers.servers[i];

		if (!server->error)
			continue;
		probe_report_error(probe->request, PROBE_DEVICES, NULL, server->at->url,
				   server->code, server->error);
		probe->n_failures++;
	}
}

static bool is_any_reached(const struct probe_servers *servers)
{
	for (size_t i = 0; i < servers->count; i++)
		if (!servers->servers[i].error)
			return true;
	return false;
}

static int try_cluster(struct probe *probe, struct err *err)
{
	const struct probe_request *request = probe->request;
	int failure = request->open_library(&probe->library, request->data, err);

	if (!failure)
		failure = session_check_library(probe->library, err);
	if (failure)
		return failure;
	probe_servers_ask(&probe->servers, request, probe->library);
	if (!probe_servers_first(&probe->servers))
		return 0;
	if (probe_tasks_find(request, &probe->servers, probe->library, &probe->tasks))
		probe->n_failures++;
	try_tasks(probe);
	return 0;
}

int probe_run(const struct probe_request *request, struct err *err)
{
	struct probe probe CLEANUP(probe_done) = {.request = request, .arena = arena_new()};

	probe_servers_init(&probe.servers, request);
	int failure = probe_servers_reach(&probe.servers, request->timeout, err);

	/* Without a reachable server TensorFlow need not be loaded. */
	if (!failure && is_any_reached(&probe.servers))
		failure = try_cluster(&probe, err);
	if (failure)
		return failure;
	report_lost_servers(&probe);
	if (probe.n_failures > 0)
		return err_set(err, ERR_UNREACHABLE, "some servers could not be reached");
	return 0;
}

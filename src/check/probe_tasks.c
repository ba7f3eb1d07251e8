/* First the whole cluster is asked, which takes a few milliseconds if all of it is up. If not,
 * CreateSession waits for missing tasks and never names them. A session limited to one task has
 * three results: the task's devices, nothing (the cluster has no such task), and silence (the task
 * exists but is not up). So the tasks are found by their names. */
#include "check/probe_tasks.h"

#include "base/mem.h"
#include "base/text.h"
#include "check/probe_event.h"
#include "spec/limits.h"
#include "tensorflow/session.h"

#include <stdlib.h>
#include <string.h>

/* For the first try with all: a slower task is found by name. */
#define ALL_AT_ONCE ((msec) 3000)

/* Job names of TFConfigClusterResolver and the older tools. */
static const char *const usual_jobs[] = {"chief", "master", "worker", "ps", "evaluator"};

struct search {
	const struct probe_request *request;
	const struct probe_servers *servers;
	const struct library *library;
	const struct probe_server *master;
	struct probe_tasks *tasks;
	struct err err; /* why the last asked task did not answer */
	const char *code; /* TensorFlow's code for it */
	size_t n_silent;
	bool is_lost; /* the master itself became silent */
};

void probe_tasks_done(struct probe_tasks *tasks)
{
	for (size_t i = 0; i < tasks->count; i++) {
		free(tasks->tasks[i].name);
		free(tasks->tasks[i].job);
	}
	free(tasks->tasks);
}

static void add_probe_task(struct probe_tasks *tasks, const struct device_name *device)
{
	for (size_t i = 0; i < tasks->count; i++)
		if (text_equals(tasks->tasks[i].job, device->job) &&
		    tasks->tasks[i].index == device->task)
			return;
	mem_grow(&tasks->tasks, &tasks->capacity, tasks->count, sizeof(*tasks->tasks));
	tasks->tasks[tasks->count++] = (struct probe_task){
		.name = mem_format("%s-%d", device->job, device->task),
		.job = mem_copy_text(device->job),
		.index = device->task,
	};
}

enum answer { ANSWER_YES, ANSWER_NO, ANSWER_SILENCE };

/* Adds the tasks whose devices are listed. ANSWER_NO: the asked task does not exist. */
static enum answer query_session_tasks(struct search *search, enum session_reach reach,
				       const char *job, int index, msec timeout)
{
	const struct session_target target = {
		.master = search->master->at->url,
		.reach = reach,
		.job = job,
		.task = index,
		.timeout = timeout,
	};
	struct session *session CLEANUP(session_cleanup) = NULL;
	const struct session_device *devices;
	enum answer answer = reach == SESSION_TASK ? ANSWER_NO : ANSWER_YES;
	size_t n_devices;

	if (reach == SESSION_TASK)
		probe_begin(search->request, "asking for %s-%d", job, index);
	else
		probe_begin(search->request, "asking %s for its tasks", search->master->at->url);
	if (session_open(search->library, &target, &session, &search->err) ||
	    session_list_devices(session, &devices, &n_devices, &search->err)) {
		search->code = session ? session_code(session) : "INVALID_ARGUMENT";
		return ANSWER_SILENCE;
	}
	for (size_t i = 0; i < n_devices; i++) {
		add_probe_task(search->tasks, &devices[i].name);
		if (reach == SESSION_TASK && text_equals(devices[i].name.job, job) &&
		    devices[i].name.task == index)
			answer = ANSWER_YES;
	}
	return answer;
}

/* `who` is used if no task is known by name. */
static void report_silent_task(struct search *search, const char *task, const char *server,
			       const char *who)
{
	const char *name = task ? task : who;
	char *message CLEANUP(mem_free_text) = mem_format(
		"%s: %s (asked through %s)", name, search->err.text, search->master->at->url);

	probe_report_error(search->request, PROBE_DEVICES, task, server, search->code, message);
	search->n_silent++;
}

/* The silence may be the master's own, and would repeat for every name. */
static void handle_task_silence(struct search *search, const char *job, int index)
{
	char *task CLEANUP(mem_free_text) = mem_format("%s-%d", job, index);
	const char *given = search->master->at->url;
	struct err err = search->err;
	const char *code = search->code;

	search->is_lost = query_session_tasks(search, SESSION_MASTER, NULL, 0,
					      search->request->timeout) == ANSWER_SILENCE;
	if (search->is_lost) {
		report_silent_task(search, NULL, given, given);
		return;
	}
	search->err = err;
	search->code = code;
	report_silent_task(search, task, NULL, NULL);
}

static void find_job_tasks(struct search *search, const char *job)
{
	for (int index = 0; index < LIMIT_REPLICAS && !search->is_lost; index++) {
		enum answer answer = query_session_tasks(search, SESSION_TASK, job, index,
							 search->request->timeout);

		if (answer == ANSWER_NO)
			return;
		if (answer == ANSWER_SILENCE)
			handle_task_silence(search, job, index);
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
static bool came_before(const struct probe_servers *servers, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (text_equals(servers->servers[i].job, servers->servers[index].job))
			return true;
	return false;
}

static void find_all_job_tasks(struct search *search)
{
	const struct probe_servers *servers = search->servers;

	for (size_t i = 0; i < ARRAY_LEN(usual_jobs); i++)
		find_job_tasks(search, usual_jobs[i]);
	for (size_t i = 0; i < servers->count; i++) {
		const char *job = servers->servers[i].job;

		if (job && rank_of(job) == ARRAY_LEN(usual_jobs) && !came_before(servers, i))
			find_job_tasks(search, job);
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

/* Returns 0 or ERR_UNREACHABLE. */
static int find_all(struct search *search)
{
	const struct probe_request *request = search->request;
	msec at_once = msec_min(request->timeout, ALL_AT_ONCE);

	if (query_session_tasks(search, SESSION_ALL, NULL, 0, at_once) == ANSWER_YES)
		return 0;
	find_all_job_tasks(search);
	if (search->n_silent == 0 &&
	    query_session_tasks(search, SESSION_ALL, NULL, 0, request->timeout) == ANSWER_SILENCE)
		report_silent_task(search, NULL, NULL, "a task of a job with a name of its own");
	return search->n_silent ? ERR_UNREACHABLE : 0;
}

int probe_tasks_find(const struct probe_request *request, const struct probe_servers *servers,
		     const struct library *library, struct probe_tasks *tasks)
{
	struct search search = {
		.request = request,
		.servers = servers,
		.library = library,
		.master = probe_servers_first(servers),
		.tasks = tasks,
	};

	int failure = find_all(&search);

	if (tasks->count > 0)
		qsort(tasks->tasks, tasks->count, sizeof(*tasks->tasks), compare_tasks);
	return failure;
}

#include "check/report.h"

#include "base/line_text.h"
#include "check/check.h"
#include "check/command.h"
#include "check/diagnosis.h"
#include "check/network.h"

#include <math.h>

/* What a step found. */

/* "1 worker", "4 devices" */
static void add_plural(struct text *text, size_t count, const char *noun)
{
	text_addf(text, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

/* "3 of 4 serving, waiting for ps-1" */
static void add_count_with(const struct json *processes, const char *fact, const char *doing,
			   struct text *text)
{
	struct text missing CLEANUP(text_done) = {0};

	text_addf(text, "%zu of %zu %s", check_count_with(processes, fact), json_count(processes),
		  doing);
	if (check_name_those_without(processes, fact, &missing))
		text_addf(text, ", waiting for %s", text_of(&missing));
}

/* Versions are listed once; a difference is not one version. */
static void add_servers(const struct check *check, struct text *text)
{
	const char *name = NULL, *version = NULL;
	struct json *task;
	bool is_one = true;
	double slowest = 0;

	add_count_with(check->tasks, "target", "serving", text);
	while (json_next(check->tasks, &name, &task)) {
		const char *its = json_get_string(task, "version", NULL);

		is_one = is_one && its && (!version || text_equals(its, version));
		version = its;
		if (json_as_real(json_get(task, "seconds"), 0) > slowest)
			slowest = json_as_real(json_get(task, "seconds"), 0);
	}
	if (slowest > 0)
		text_addf(text, ", the slowest after %.2fs", slowest);
	if (is_one && version)
		text_addf(text, ", TensorFlow %s", version);
}

/* Lists all devices if they fit in a line; -o json always has them. */
static void add_devices(const struct check *check, struct text *text)
{
	enum { TASKS_SHOWN = 8, DEVICES_SHOWN = 4 };
	size_t n_tasks = json_count(check->tasks), count = 0;
	const char *name, *separator = ": ";
	struct json *task;

	for (name = NULL; json_next(check->tasks, &name, &task);)
		count += json_count(json_get(task, "devices"));
	add_plural(text, count, "device");
	text_add(text, " on ");
	add_plural(text, n_tasks, "task");
	for (name = NULL; n_tasks <= TASKS_SHOWN && json_next(check->tasks, &name, &task);) {
		const struct json *devices = json_get(task, "devices");

		text_addf(text, "%s%s", separator, name);
		separator = "; ";
		for (size_t i = 0; i < json_count(devices) && i < DEVICES_SHOWN; i++)
			text_addf(text, " %s", json_as_string(json_at(devices, i), "?"));
		if (json_count(devices) > DEVICES_SHOWN)
			text_addf(text, " and %zu more", json_count(devices) - DEVICES_SHOWN);
	}
}

static int64_t training_number(const struct check *check, const char *key)
{
	return json_as_integer(json_get(check->training, key), 0);
}

static void add_training(const struct check *check, struct text *text)
{
	const char *data = json_get_string(check->data, "name", NULL);
	int64_t n_examples = json_as_integer(json_get(check->data, "examples"), 0);

	add_plural(text, json_count(check->trainers), check_trainer_role(check));
	if (training_number(check, "step") > 0) {
		text_add(text, ", ");
		add_plural(text, (size_t) training_number(check, "step"), "step");
	}
	if (data)
		text_addf(text, "; data: %s", data);
	if (data && n_examples > 0)
		text_addf(text, ", %lld examples", (long long) n_examples);
}

static double figure(const struct check *check, const char *key)
{
	return json_as_real(json_get(check->figures, key), NAN);
}

static void add_result(const struct check *check, struct text *text)
{
	text_addf(text, "validation cross entropy %.3g", figure(check, "crossEntropy"));
	if (!isnan(figure(check, "bound")))
		text_addf(text, ", below %.3g", figure(check, "bound"));
	if (!isnan(figure(check, "before")))
		text_addf(text, " (%.3g before training)", figure(check, "before"));
	if (!isnan(figure(check, "accuracy")))
		text_addf(text, ", accuracy %.1f %%", 100 * figure(check, "accuracy"));
}

static void add_links(const struct check *check, struct text *text)
{
	if (json_count(check->links) > 0)
		check_network_add_ranges(check->links, text);
	else
		text_addf(text, "only one %s, so there is no link to test",
			  check->request.is_for_torch ? "process" : "server");
}

/* The slowest process counts. */
static void add_collectives(const struct check *check, struct text *text)
{
	const char *name = NULL, *backend = "";
	struct json *task;
	double least = INFINITY;

	while (json_next(check->tasks, &name, &task)) {
		double speed = json_as_real(json_get(task, "bandwidth"), INFINITY);

		least = speed < least ? speed : least;
		backend = json_get_string(task, "backend", backend);
	}
	text_addf(text, "%s: an all-reduce of %zu process%s gave the right sum", backend,
		  json_count(check->tasks), json_count(check->tasks) == 1 ? "" : "es");
	if (isfinite(least)) {
		text_add(text, ", ");
		check_network_add_speed(least, text);
	}
}

static void add_operations(const struct check *check, struct text *text)
{
	if (check->request.is_for_torch) {
		add_collectives(check, text);
		return;
	}
	text_add(text, "an operation ran on each of ");
	add_plural(text, json_count(check->tasks), "task");
}

/* Of the steps that muster does not perform itself. */
static void (*const add_found[CHECK_STEP_COUNT])(const struct check *check, struct text *text) = {
	[CHECK_SERVERS] = add_servers,   [CHECK_NETWORK] = add_links,
	[CHECK_DEVICES] = add_devices,   [CHECK_SESSION] = add_operations,
	[CHECK_TRAINING] = add_training, [CHECK_RESULT] = add_result,
};

static const char *reason_to_skip(const struct check *check, enum check_step step)
{
	const struct check_request *request = &check->request;

	if (step == CHECK_RESULT && check->figures)
		return "too few steps to judge the training: ";
	if (step == CHECK_LIBRARY)
		return "provided by the image";
	if (step == CHECK_DATA && request->data_dir)
		return "provided by the Pods";
	if (step == CHECK_NETWORK)
		return "cannot be tested from this machine; the Pods reach the servers";
	if (step == CHECK_DATA)
		return check_request_trains(request) ? "no --data-dir: using built-in data"
						     : "no model to train";
	if (step == CHECK_SERVERS)
		return request->is_for_torch ? "PyTorch has none" : "using existing servers";
	return request->is_setup_only ? "--setup-only" : "--model none";
}

static void describe_step(const struct check *check, enum check_step step, struct text *text)
{
	enum check_state state = check->steps[step].state;

	if (state == CHECK_PASSED && add_found[step])
		add_found[step](check, text);
	else if (state == CHECK_PASSED)
		text_add(text, check->steps[step].found);
	else if (state == CHECK_FAILED)
		text_add(text, check->fault->message);
	else if (state == CHECK_SKIPPED)
		text_add(text, reason_to_skip(check, step));
	else if (state == CHECK_WAITING)
		text_add(text, "not reached");
	if (state == CHECK_SKIPPED && step == CHECK_RESULT && check->figures)
		add_result(check, text);
}

/* Progress. */

static void add_training_progress(const struct check *check, struct text *text)
{
	double loss = json_as_real(json_get(check->training, "loss"), NAN);
	size_t n_trainers = json_count(check->trainers);

	if (training_number(check, "of") > 0) {
		text_addf(text, "step %lld of %lld", (long long) training_number(check, "step"),
			  (long long) training_number(check, "of"));
		if (!isnan(loss))
			text_addf(text, ", loss %.2f", loss);
	} else if (check_count_with(check->trainers, "begins") < n_trainers) {
		add_count_with(check->trainers, "begins", "training", text);
	} else {
		text_add(text, "all training");
	}
}

static void add_step_progress(const struct check *check, enum check_step step, struct text *text)
{
	const struct check_task_fact *fact = &check_task_facts[step];

	if (fact->name)
		add_count_with(check->tasks, fact->name, fact->doing, text);
	else if (step == CHECK_NETWORK)
		text_addf(text, "%zu links tested", json_count(check->links));
	else if (step == CHECK_TRAINING)
		add_training_progress(check, text);
	else
		text_add(text,
			 step == CHECK_RESULT ? "waiting for the workers to finish" : "searching");
}

void check_add_progress(const struct check *check, struct text *text)
{
	enum check_step step = check_current_step(check);

	if (check->result != CHECK_OPEN)
		text_add(text, check_is_over(check) ? "" : "stopping running processes");
	else if (step == CHECK_STEP_COUNT)
		return;
	else if (instant_is_set(check->roll_called))
		text_add(text, "timed out; checking which servers still respond");
	else {
		text_addf(text, "%s: ", check_step_words[step]);
		add_step_progress(check, step, text);
	}
}

/* The report for programs. */

static void set_seconds(struct json *object, msec duration)
{
	json_set(object, "seconds", json_new_real((double) duration / MSEC_PER_SECOND));
}

static struct json *write_steps(const struct check *check)
{
	struct json *list = json_new_array();

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++) {
		const struct check_step_record *record = &check->steps[step];
		struct text message CLEANUP(text_done) = {0};
		struct json *object = json_new_texts("name", check_step_words[step], "state",
						     check_state_words[record->state], NULL);

		describe_step(check, step, &message);
		if (instant_is_set(record->ended) && instant_is_set(record->started))
			set_seconds(object, instant_since(record->started, record->ended));
		json_set_string(object, "message", text_of(&message));
		json_append(list, object);
	}
	return list;
}

/* "servers", "devices" and the training's "workers": what is known of each process. */
static void write_processes(const struct check *check, struct json *report)
{
	struct json *servers = json_array_at(report, "servers");
	struct json *network = json_array_at(report, "network");
	struct json *devices = json_array_at(report, "devices"), *process, *object;
	const char *name;

	for (name = NULL; json_next(check->links, &name, &process);)
		json_append(network, json_new_copy(process));
	for (name = NULL; json_next(check->tasks, &name, &process);) {
		object = json_new_texts("task", name, NULL);
		json_append(servers, object);
		json_copy_member(object, process, "target");
		json_copy_member(object, process, "version");
		json_copy_member(object, process, "seconds");
		if (!check_has(process, "devices"))
			continue;
		object = json_new_texts("task", name, NULL);
		json_append(devices, object);
		json_copy_member(object, process, "devices");
		json_set_bool(object, "ran", check_has(process, "ran"));
	}
}

static struct json *write_training(const struct check *check)
{
	struct json *training = json_new_copy(check->training), *trainer;
	struct json *workers = json_array_at(training, "workers");
	const char *name = NULL;

	while (json_next(check->trainers, &name, &trainer)) {
		struct json *worker = json_new_texts("task", name, NULL);

		json_set_bool(worker, "begins", check_has(trainer, "begins"));
		json_set_bool(worker, "ends", check_has(trainer, "ends"));
		json_append(workers, worker);
	}
	return training;
}

struct json *check_write_json(const struct check *check)
{
	const struct check_request *request = &check->request;
	const struct check_fault *fault = check->fault;
	struct json *report = json_new_texts(
		"result", check_result_words[check->result], "name", request->name, "where",
		request->is_on_kubernetes ? "kubernetes"
		: request->is_remote      ? "remote"
					  : "local",
		"framework", request->is_for_torch ? "torch" : "tensorflow", "model",
		check_model_words[request->model], NULL);

	json_set_bool(report, "syncReplicas", request->is_sync);
	set_seconds(report, instant_since(check->started, check->ended));
	json_set(report, "steps", write_steps(check));
	write_processes(check, report);
	if (check->data)
		json_set(report, "data", json_new_copy(check->data));
	if (json_count(check->trainers) > 0)
		json_set(report, "training", write_training(check));
	if (check->figures)
		json_set(report, "figures", json_new_copy(check->figures));
	if (fault)
		json_set(report, "fault",
			 json_new_texts("step", check_step_words[fault->step], "reason",
					check_fault_word(check), "task", fault->task, "message",
					fault->message, "advice", check_fault_advice(check), "job",
					fault->job, NULL));
	return report;
}

/* The report for users. */

#define GREEN "\x1b[32m"
#define RED "\x1b[31m"
#define PLAIN "\x1b[0m"

static void describe_request(const struct check_request *request, struct text *text)
{
	if (request->is_remote) {
		text_add(text, "existing servers, ");
		for (size_t i = 0; i < request->n_servers; i++)
			text_addf(text, "%s%s", i ? " and " : "", request->servers[i].url);
	} else {
		add_plural(text, (size_t) request->workers, "worker");
		if (request->ps > 0) {
			text_add(text, " and ");
			add_plural(text, (size_t) request->ps, "parameter server");
		}
	}
	if (request->is_on_kubernetes)
		text_add(text, request->is_remote ? ", from Kubernetes" : " on Kubernetes");
	else if (!request->is_remote)
		text_add(text, " on this machine");
	if (request->is_for_torch)
		text_add(text, ", PyTorch");
	else if (check_request_trains(request))
		text_addf(text, ", model %s%s", check_model_words[request->model],
			  request->is_sync ? ", synchronous" : "");
}

/* "0.3s", "12.1s", "2m5s" */
static void add_seconds(msec duration, struct text *text)
{
	if (duration < 60 * MSEC_PER_SECOND)
		text_addf(text, "%.1fs", (double) (duration < 0 ? 0 : duration) / MSEC_PER_SECOND);
	else
		text_add_duration(text, duration);
}

void check_add_heading(const struct check *check, struct text *text)
{
	text_add(text, "muster check: ");
	describe_request(&check->request, text);
	text_add_char(text, '\n');
	if (!check->request.is_remote && !check->request.has_private_network &&
	    !check->request.is_for_torch)
		text_addf(text,
			  "  (warning: until the check ends, any client that can reach %s can run "
			  "code through its TensorFlow servers)\n",
			  check->request.is_on_kubernetes ? "its Pods" : "this machine");
}

static void add_colored(struct text *text, const char *color, const char *word, size_t width,
			const struct check_style *style)
{
	text_addf(text, "%s%-*s%s", style->has_color ? color : "", (int) width, word,
		  style->has_color ? PLAIN : "");
}

void check_add_step(const struct check *check, enum check_step step,
		    const struct check_style *style, struct text *text)
{
	const struct check_step_record *record = &check->steps[step];
	struct text time CLEANUP(text_done) = {0};
	enum { WIDTH = 7 };

	text_addf(text, "  %-10s", check_step_words[step]);
	if (record->state == CHECK_PASSED)
		add_colored(text, GREEN, "ok", WIDTH, style);
	else
		add_colored(text, RED, check->result == CHECK_INTERRUPTED ? "ended" : "FAILED",
			    WIDTH, style);
	add_seconds(instant_since(record->started, record->ended), &time);
	text_addf(text, " %7s  ", text_of(&time));
	describe_step(check, step, text);
	text_add_char(text, '\n');
}

/* The end. */

static void add_row_head(struct text *text, const char *head)
{
	text_addf(text, "  %-10s", head);
}

static void add_unreached(const struct check *check, struct text *text)
{
	const char *separator = "";

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++) {
		if (check->steps[step].state != CHECK_WAITING)
			continue;
		if (!*separator)
			add_row_head(text, "not tried");
		text_addf(text, "%s%s", separator, check_step_words[step]);
		separator = ", ";
	}
	if (*separator)
		text_add_char(text, '\n');
}

/* "muster logs check-x1y2z --role ps --index 1" */
static void add_log(const struct check_fault *fault, struct text *text)
{
	const char *dash = fault->is_of_task && fault->task ? strrchr(fault->task, '-') : NULL;

	if (!fault->job)
		return;
	add_row_head(text, "log");
	text_addf(text, "muster logs %s", fault->job);
	if (dash)
		text_addf(text, " --role %.*s --index %s", (int) (dash - fault->task), fault->task,
			  dash + 1);
	text_add_char(text, '\n');
}

/* The jobs that were started are kept: their logs can be read. */
static void add_what_to_do(const struct check *check, struct text *text)
{
	struct text kept CLEANUP(text_done) = {0};

	if (check->result == CHECK_BAD) {
		add_row_head(text, "fix");
		text_addf(text, "%s\n", check_fault_advice(check));
		add_log(check->fault, text);
	}
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (check->jobs[job].has_started)
			text_addf(&kept, " %s", check->jobs[job].name);
	if (kept.len > 0) {
		add_row_head(text, "logs kept");
		text_addf(text, "until you run: muster delete%s\n", text_of(&kept));
	}
}

static void add_setup(const struct check *check, struct text *text)
{
	const char *name = NULL;
	struct json *task;

	while (json_next(check->tasks, &name, &task)) {
		add_row_head(text, name);
		text_addf(text, "%s\n", json_get_string(task, "target", ""));
	}
	add_row_head(text, "test");
	check_command_describe_try(check, text);
	text_add_char(text, '\n');
	add_row_head(text, "stop");
	check_command_describe_stop(check, text);
	text_add_char(text, '\n');
}

static void add_verdict(const struct check *check, const struct check_style *style,
			struct text *text)
{
	const char *parts = check->request.is_for_torch ? "processes" : "servers";
	bool is_good = check->result == CHECK_GOOD;
	struct text time CLEANUP(text_done) = {0};

	add_seconds(instant_since(check->started, check->ended), &time);
	add_colored(text, is_good ? GREEN : RED, check_result_words[check->result], 0, style);
	text_addf(text, " %s %s: ", is_good ? "in" : "after", text_of(&time));
	if (!is_good) { /* in the failed process's own words */
		line_text_add_sentence(text, check->fault->message, strlen(check->fault->message));
	} else if (check->request.is_setup_only) {
		text_add(text, "the servers keep running");
	} else if (check->request.model == CHECK_NO_MODEL) {
		text_addf(text, "the %s work together", parts);
	} else if (check->steps[CHECK_RESULT].state == CHECK_SKIPPED) {
		text_addf(text, "the %s work together, but ", parts);
		describe_step(check, CHECK_RESULT, text);
	} else {
		text_addf(text, "distributed %s works",
			  check->request.is_for_torch ? "PyTorch" : "TensorFlow");
	}
	text_add_char(text, '\n');
}

void check_add_end(const struct check *check, const struct check_style *style, struct text *text)
{
	bool has_failed = check->steps[CHECK_NETWORK].state == CHECK_FAILED;

	if (json_count(check->links) > 0 && (has_failed || style->is_verbose))
		check_network_add_table(check->links, text);
	if (check->result != CHECK_GOOD)
		add_unreached(check, text);
	add_verdict(check, style, text);
	if (check->result != CHECK_GOOD)
		add_what_to_do(check, text);
	else if (check->request.is_setup_only)
		add_setup(check, text);
}

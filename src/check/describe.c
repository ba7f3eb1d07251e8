#include "check/describe.h"

#include "check/judge.h"
#include "check/task.h"

#include <math.h>

/* "1 worker", "4 devices" */
static void add_plural(struct text *text, size_t count, const char *noun)
{
	text_addf(text, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

/* "3 of 4 serving, waiting for ps-1" */
static void add_task_count(const struct check *check, check_task_fn is_done, const char *what,
			   struct text *text)
{
	struct check_names missing = {0};

	check_names_add_others(&missing, check, is_done);
	text_addf(text, "%zu of %zu %s", check->n_tasks - missing.count, check->n_tasks, what);
	if (missing.count == 0)
		return;
	text_add(text, ", waiting for ");
	check_names_write(&missing, text);
}

/* Versions are listed once; a difference is mentioned. */
static void add_servers(const struct check *check, struct text *text)
{
	const char *version = check->n_tasks > 0 ? check->tasks[0].version : NULL;
	double slowest = 0;

	add_task_count(check, check_task_serves, "serving", text);
	for (size_t i = 0; i < check->n_tasks; i++) {
		if (!text_equals(check->tasks[i].version, version))
			version = NULL;
		if (check->tasks[i].serving_seconds > slowest)
			slowest = check->tasks[i].serving_seconds;
	}
	if (slowest > 0)
		text_addf(text, ", the slowest after %.2fs", slowest);
	if (version)
		text_addf(text, ", TensorFlow %s", version);
}

static void add_network(const struct check *check, struct text *text)
{
	if (check->network.count > 0)
		check_network_add_ranges(&check->network, text);
	else
		text_add(text, "only one server, so there is no link to test");
}

/* Lists all devices if they fit in a line; -o json always has them. */
static void add_devices(const struct check *check, struct text *text)
{
	size_t count = 0;

	for (size_t i = 0; i < check->n_tasks; i++)
		count += check->tasks[i].n_devices;
	add_plural(text, count, "device");
	text_add(text, " on ");
	add_plural(text, check->n_tasks, "task");
	for (size_t i = 0; i < check->n_tasks && check->n_tasks <= 8; i++) {
		const struct check_task *task = &check->tasks[i];

		text_addf(text, "%s%s", i ? "; " : ": ", task->name);
		for (size_t k = 0; k < task->n_devices && k < 4; k++)
			text_addf(text, " %s", task->devices[k]);
		if (task->n_devices > 4)
			text_addf(text, " and %zu more", task->n_devices - 4);
	}
}

static void add_data(const struct check *check, struct text *text)
{
	if (!check->data_name)
		return;
	text_addf(text, "; data: %s", check->data_name);
	if (check->data_examples > 0)
		text_addf(text, ", %lld examples", (long long) check->data_examples);
}

static void add_training(const struct check *check, struct text *text)
{
	size_t n = check->n_trainers;

	text_addf(text, "%zu %s%s", n, check_trainer_role(check->request.model), n == 1 ? "" : "s");
	if (check->step > 0) {
		text_add(text, ", ");
		add_plural(text, (size_t) check->step, "step");
	}
	add_data(check, text);
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

static void add_found(const struct check *check, enum check_step step, struct text *text)
{
	switch (step) {
	case CHECK_LIBRARY:
		text_add(text, check->library);
		break;
	case CHECK_DATA:
		text_add(text, check->files);
		break;
	case CHECK_SERVERS:
		add_servers(check, text);
		break;
	case CHECK_NETWORK:
		add_network(check, text);
		break;
	case CHECK_DEVICES:
		add_devices(check, text);
		break;
	case CHECK_SESSION:
		text_add(text, "an operation ran on each of ");
		add_plural(text, check->n_tasks, "task");
		break;
	case CHECK_TRAINING:
		add_training(check, text);
		break;
	case CHECK_RESULT:
		add_result(check, text);
		break;
	case CHECK_STEP_COUNT:
		break;
	}
}

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
		return "using existing servers";
	return request->is_setup_only ? "--setup-only" : "--model none";
}

void check_describe_step(const struct check *check, enum check_step step, struct text *text)
{
	switch (check->steps[step].state) {
	case CHECK_PASSED:
		add_found(check, step, text);
		break;
	case CHECK_FAILED:
		text_add(text, check->fault->message);
		break;
	case CHECK_SKIPPED:
		text_add(text, reason_to_skip(check, step));
		if (step == CHECK_RESULT && check->figures)
			add_result(check, text);
		break;
	case CHECK_WAITING:
		text_add(text, "not reached");
		break;
	case CHECK_RUNNING:
	case CHECK_STATE_COUNT:
		break;
	}
}

/* Progress. */

static void add_training_progress(const struct check *check, struct text *text)
{
	struct check_names missing = {0};

	for (size_t i = 0; i < check->n_trainers; i++)
		if (!check->trainers[i].has_started)
			check_names_add(&missing, check->trainers[i].name);
	if (check->steps_wanted > 0) {
		text_addf(text, "step %lld of %lld", (long long) check->step,
			  (long long) check->steps_wanted);
		if (!isnan(check->loss))
			text_addf(text, ", loss %.2f", check->loss);
	} else if (missing.count > 0) {
		text_addf(text, "%zu of %zu training, waiting for ",
			  check->n_trainers - missing.count, check->n_trainers);
		check_names_write(&missing, text);
	} else {
		text_add(text, "all training");
	}
}

static void add_progress(const struct check *check, enum check_step step, struct text *text)
{
	switch (step) {
	case CHECK_SERVERS:
		add_task_count(check, check_task_serves, "serving", text);
		break;
	case CHECK_NETWORK:
		text_addf(text, "%zu links tested", check->network.count);
		break;
	case CHECK_DEVICES:
		add_task_count(check, check_task_is_listed, "listed", text);
		break;
	case CHECK_SESSION:
		add_task_count(check, check_task_has_run, "ran an operation", text);
		break;
	case CHECK_TRAINING:
		add_training_progress(check, text);
		break;
	case CHECK_RESULT:
		text_add(text, "waiting for the workers to finish");
		break;
	case CHECK_LIBRARY:
	case CHECK_DATA:
		text_add(text, "searching");
		break;
	case CHECK_STEP_COUNT:
		break;
	}
}

void check_describe_progress(const struct check *check, struct text *text)
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
		add_progress(check, step, text);
	}
}

/* The whole. */

void check_describe_request(const struct check_request *request, struct text *text)
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
	if (check_request_trains(request))
		text_addf(text, ", model %s%s", check_model_words[request->model],
			  request->is_sync ? ", synchronous" : "");
}

void check_describe_seconds(msec duration, struct text *text)
{
	if (duration < 60 * MSEC_PER_SECOND)
		text_addf(text, "%.1fs", (double) (duration < 0 ? 0 : duration) / MSEC_PER_SECOND);
	else
		text_add_duration(text, duration);
}

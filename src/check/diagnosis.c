#include "check/diagnosis.h"

#include "check/fault.h"
#include "check/task.h"

#include <math.h>
#include <stdio.h>

/* Jobs. */

/* "ps-1 exited with code 1 after 2s (attempt 0): port 2222 is in use" */
static void blame_failure(struct check *check, enum check_fault_kind kind, enum check_step step,
			  enum check_job job, const char *cause)
{
	const struct check_job_record *record = &check->jobs[job];

	check_set_cause(check, kind, step, record->failed, record->failed_at, "%s%s%s",
			record->failure, cause ? ": " : "", cause ? cause : "");
	check_fault_set_job(check, job);
}

/* A job that ended without a failed replica: it never began, or a user ended it. */
static void blame_end(struct check *check, enum check_step step, enum check_job job,
		      const char *what, instant now)
{
	const struct check_job_record *record = &check->jobs[job];

	check_set_cause(check, CHECK_FAULT_NOT_STARTED, step, NULL, now,
			"%s ended with code %d%s%s", what, record->exit_code,
			record->last_words ? ": " : "",
			record->last_words ? record->last_words : "");
	check_fault_set_job(check, job);
}

static enum check_fault_kind kind_of_servers(const struct check *check)
{
	const struct check_job_record *record = &check->jobs[CHECK_SERVERS_JOB];

	if (check->request.is_on_kubernetes && record->could_not_start)
		return CHECK_FAULT_IMAGE;
	return record->cause ? CHECK_FAULT_SERVER_FAILED : CHECK_FAULT_SERVER_DIED;
}

void check_diagnose_servers(struct check *check, enum check_step step, instant now)
{
	const struct check_job_record *record = &check->jobs[CHECK_SERVERS_JOB];

	if (record->failure)
		blame_failure(check, kind_of_servers(check), step, CHECK_SERVERS_JOB,
			      record->cause);
	else
		blame_end(check, step, CHECK_SERVERS_JOB, "the servers' job", now);
}

void check_revise_cause(struct check *check)
{
	const struct check_job_record *servers = &check->jobs[CHECK_SERVERS_JOB];
	enum check_step step = check->fault->step;

	if (!servers->failure || instant_is_before(check->fault->time, servers->failed_at))
		return;
	check->fault = NULL;
	check_diagnose_servers(check, step, servers->failed_at);
}

/* The network. */

static enum check_fault_kind kind_of_stage(const char *stage)
{
	if (text_equals(stage, "resolve"))
		return CHECK_FAULT_NAME;
	return text_equals(stage, "connect") ? CHECK_FAULT_PORT : CHECK_FAULT_ANSWER;
}

/* "ps-1 cannot reach worker-0 (127.0.0.1:2222): connection refused" */
bool check_diagnose_network(struct check *check, instant now)
{
	size_t count;
	const struct check_pair *pair = check_network_failed(&check->network, &count);
	char more[64] = "";

	if (!pair)
		return false;
	bool is_task = check_find_task(check, pair->to) != NULL;
	bool has_address = pair->address && !text_equals(pair->address, pair->to);

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu more %s)", count - 1,
			 count == 2 ? "link fails" : "links fail");
	check_set_cause(check, kind_of_stage(pair->stage), CHECK_NETWORK, is_task ? pair->to : NULL,
			now, "%s cannot %s %s%s%s%s: %s%s", pair->from,
			text_equals(pair->stage, "resolve") ? "find" : "reach", pair->to,
			has_address ? " (" : "", has_address ? pair->address : "",
			has_address ? ")" : "", pair->error, more);
	return true;
}

/* The probe. */

bool check_diagnose_size(struct check *check, instant now)
{
	int there = check_count_workers(check);

	if (!check_request_trains(&check->request) || there >= check->request.workers)
		return false;
	check_set_cause(check, CHECK_FAULT_TOO_FEW, CHECK_DEVICES, NULL, now,
			"%d workers were requested, but the cluster has %d", check->request.workers,
			there);
	return true;
}

static const char *verb_of(enum check_step step)
{
	return step == CHECK_DEVICES ? "listing the devices" : "running an operation";
}

/* TensorFlow's codes for unresponsive tasks (absl/status/status.h). */
static enum check_fault_kind kind_of_code(const char *code)
{
	return text_equals(code, "UNAVAILABLE") || text_equals(code, "DEADLINE_EXCEEDED")
		       ? CHECK_FAULT_SILENT_SERVER
		       : CHECK_FAULT_PROBE;
}

void check_diagnose_probe(struct check *check, enum check_step step, instant now)
{
	const struct check_job_record *probe = &check->jobs[CHECK_PROBE_JOB];

	if (check->probe_error) {
		step = check->probe_error_step;
		check_set_cause(check, kind_of_code(check->probe_error_code), step,
				check->probe_error_task, now, "%s failed with %s: %s",
				verb_of(step), check->probe_error_code, check->probe_error);
	} else if (probe->failure) {
		blame_failure(check, CHECK_FAULT_PROBE, step, CHECK_PROBE_JOB, probe->cause);
	} else {
		blame_end(check, step, CHECK_PROBE_JOB, "the probe", now);
	}
}

/* Paused processes. */

static void blame_stopped_process(struct check *check, enum check_fault_kind kind,
				  enum check_step step, const char *name, instant now)
{
	check_set_cause(check, kind, step, name, now,
			"%s did not answer: its process is stopped (SIGSTOP)", name);
}

static bool blame_stopped_server(struct check *check, enum check_step step, instant now)
{
	for (size_t i = 0; i < check->n_tasks; i++) {
		if (!check->tasks[i].is_stopped)
			continue;
		blame_stopped_process(check, CHECK_FAULT_SERVER_STOPPED, step, check->tasks[i].name,
				      now);
		if (!check->jobs[CHECK_SERVERS_JOB].has_ended)
			check_fault_set_job(check, CHECK_SERVERS_JOB);
		return true;
	}
	return false;
}

/* A paused process explains every silence. */
static bool blame_stopped(struct check *check, enum check_step step, instant now)
{
	if (blame_stopped_server(check, step, now))
		return true;
	for (size_t i = 0; i < check->n_trainers; i++) {
		if (!check->trainers[i].is_stopped)
			continue;
		blame_stopped_process(check, CHECK_FAULT_TRAINER_STOPPED, step,
				      check->trainers[i].name, now);
		return true;
	}
	return false;
}

/* The model. */

/* The failed process's own message, if it failed first. The silent failure of a process says more
 * than the complaints of its peers. */
static const struct check_trainer *find_complaint(const struct check *check)
{
	const char *failed = check->jobs[CHECK_MODEL_JOB].failed;

	for (size_t i = 0; i < check->n_trainers; i++) {
		const struct check_trainer *trainer = &check->trainers[i];

		if (trainer->error && (!failed || text_equals(trainer->name, failed)))
			return trainer;
	}
	return NULL;
}

/* Wrong data are blamed on the step that checked the data, if it was performed. */
static enum check_step step_of_complaint(const struct check *check,
					 const struct check_trainer *trainer)
{
	bool has_data_step = check->steps[CHECK_DATA].state != CHECK_SKIPPED;

	return trainer->is_data_error && has_data_step ? CHECK_DATA : CHECK_TRAINING;
}

/* A model may have its own servers in addition to the training processes. */
static enum check_fault_kind kind_of_process(const struct check *check, const char *name)
{
	if (!name || check_find_trainer(check, name))
		return CHECK_FAULT_TRAINER_DIED;
	return CHECK_FAULT_SERVER_DIED;
}

static void blame_trainers(struct check *check, enum check_step step, instant now)
{
	const struct check_job_record *model = &check->jobs[CHECK_MODEL_JOB];
	const struct check_trainer *trainer = find_complaint(check);

	if (blame_stopped(check, step, now))
		return;
	if (trainer) {
		check_set_cause(
			check, trainer->is_data_error ? CHECK_FAULT_DATA : CHECK_FAULT_TRAINER_DIED,
			step_of_complaint(check, trainer), trainer->name, now, "%s: %s",
			trainer->name, trainer->error);
		check_fault_set_job(check, CHECK_MODEL_JOB);
	} else if (model->failure) {
		blame_failure(check, kind_of_process(check, model->failed), step, CHECK_MODEL_JOB,
			      model->cause);
	} else {
		blame_end(check, step, CHECK_MODEL_JOB, "the model", now);
	}
}

static void add_untrained(const struct check *check, struct check_names *names)
{
	for (size_t i = 0; i < check->n_trainers; i++)
		if (!check->trainers[i].has_ended)
			check_names_add(names, check->trainers[i].name);
}

void check_diagnose_training(struct check *check, instant now)
{
	struct check_names names = {0};
	struct text text CLEANUP(text_done) = {0};

	if (check->jobs[CHECK_MODEL_JOB].exit_code != 0) {
		blame_trainers(check, CHECK_TRAINING, now);
		return;
	}
	add_untrained(check, &names);
	check_names_write(&names, &text);
	check_set_cause(check, CHECK_FAULT_TRAINER_DIED, CHECK_TRAINING, names.shown[0], now,
			"%s exited without training", text_of(&text));
}

bool check_result_is_judged(const struct check *check)
{
	return !json_is(json_get(check->figures, "bound"), JSON_NULL);
}

bool check_diagnose_result(struct check *check, instant now)
{
	double loss = json_as_real(json_get(check->figures, "crossEntropy"), -1);
	double bound = json_as_real(json_get(check->figures, "bound"),
				    check_result_is_judged(check) ? 0 : INFINITY);

	if (check->jobs[CHECK_MODEL_JOB].exit_code != 0)
		blame_trainers(check, CHECK_RESULT, now);
	else if (!check->figures)
		check_set_cause(check, CHECK_FAULT_RESULT, CHECK_RESULT, NULL, now,
				"the workers ended, but none reported a result");
	else if (loss <= 0)
		check_set_cause(check, CHECK_FAULT_RESULT, CHECK_RESULT, NULL, now,
				"the validation cross entropy is not a positive number");
	else if (loss >= bound)
		check_set_cause(check, CHECK_FAULT_RESULT, CHECK_RESULT, NULL, now,
				"the validation cross entropy is %.3g, which is not below %.3g",
				loss, bound);
	else
		return false;
	return true;
}

/* Silence. */

/* What a Pod that is not running waits for, in muster's words; else nothing. */
static const char *waiting_reason_of_servers(const struct check *check, enum check_step step)
{
	bool is_of_pods = check->request.is_on_kubernetes && step == CHECK_SERVERS;

	return is_of_pods ? check->jobs[CHECK_SERVERS_JOB].last_words : NULL;
}

static void blame_silent_tasks(struct check *check, enum check_step step, check_task_fn did,
			       const char *did_not, const char *time, instant now)
{
	struct check_names names = {0};
	struct text text CLEANUP(text_done) = {0};
	const char *obstacle = waiting_reason_of_servers(check, step);

	check_names_add_others(&names, check, did);
	check_names_write(&names, &text);
	check_set_cause(check, CHECK_FAULT_SILENT_SERVER, step, names.shown[0], now,
			"%s did not %s within %s%s%s", names.count ? text_of(&text) : "the servers",
			did_not, time, obstacle ? ": " : "", obstacle ? obstacle : "");
}

static void blame_silent_network(struct check *check, const char *time, instant now)
{
	for (size_t i = 0; i < check->n_tasks; i++)
		for (size_t k = 0; k < check->n_tasks; k++)
			if (i != k && !check_network_find(&check->network, check->tasks[i].name,
							  check->tasks[k].name))
				check_set_cause(check, CHECK_FAULT_SILENT_SERVER, CHECK_NETWORK,
						check->tasks[i].name, now,
						"%s did not report within %s whether it reaches %s",
						check->tasks[i].name, time, check->tasks[k].name);
	check_set_cause(check, CHECK_FAULT_SILENT_SERVER, CHECK_NETWORK, NULL, now,
			"the servers were not tested within %s", time);
}

/* Blames the tasks that did not answer the roll call. */
static void blame_absent(struct check *check, enum check_step step, const char *time, instant now)
{
	struct check_names names = {0};
	struct text text CLEANUP(text_done) = {0};

	check_names_add_others(&names, check, check_task_has_answered);
	if (!instant_is_set(check->roll_called) || names.count == 0)
		return;
	check_names_write(&names, &text);
	check_set_cause(check, CHECK_FAULT_SILENT_SERVER, step, names.shown[0], now,
			"%s stopped answering; training did not end within %s", text_of(&text),
			time);
	if (!check->request.is_remote)
		check_fault_set_job(check, CHECK_SERVERS_JOB);
}

static void blame_silent_trainers(struct check *check, enum check_step step, const char *time,
				  instant now)
{
	struct check_names names = {0};
	struct text text CLEANUP(text_done) = {0};

	add_untrained(check, &names);
	check_names_write(&names, &text);
	if (names.count == 0)
		text_add(&text, "the model's processes");
	text_addf(&text, " did not end within %s", time);
	if (check->steps_wanted > 0)
		text_addf(&text, "; the last reported step was %lld of %lld",
			  (long long) check->step, (long long) check->steps_wanted);
	check_set_cause(check, CHECK_FAULT_SILENT_TRAINER, step, names.shown[0], now, "%s",
			text_of(&text));
}

void check_diagnose_silence(struct check *check, enum check_step step, instant now)
{
	struct text time CLEANUP(text_done) = {0};

	text_add_duration(&time, check->request.timeout);
	if (blame_stopped(check, step, now))
		return;
	switch (step) {
	case CHECK_SERVERS:
		if (!check_diagnose_network(check, now))
			blame_silent_tasks(check, step, check_task_serves, "serve", text_of(&time),
					   now);
		return;
	case CHECK_NETWORK:
		blame_silent_network(check, text_of(&time), now);
		return;
	case CHECK_DEVICES:
		blame_silent_tasks(check, step, check_task_is_listed, "list its devices",
				   text_of(&time), now);
		return;
	case CHECK_SESSION:
		blame_silent_tasks(check, step, check_task_has_run, "run an operation",
				   text_of(&time), now);
		return;
	case CHECK_TRAINING:
	case CHECK_RESULT:
		blame_absent(check, step, text_of(&time), now);
		blame_silent_trainers(check, step, text_of(&time), now);
		return;
	case CHECK_LIBRARY:
	case CHECK_DATA:
	case CHECK_STEP_COUNT:
		break;
	}
	check_set_cause(check, CHECK_FAULT_NOT_STARTED, step, NULL, now,
			"no server was found within %s", text_of(&time));
}

#include "check/judge.h"

#include "check/diagnosis.h"
#include "check/facts.h"
#include "check/task.h"

/* A remote cluster has no tasks before they are known. */
static bool all_are(const struct check *check, check_task_fn is_so)
{
	return check->n_tasks > 0 && check_count_tasks(check, is_so) == check->n_tasks;
}

static enum check_state evaluate_server_step(struct check *check, instant now)
{
	(void) now;
	return all_are(check, check_task_serves) ? CHECK_PASSED : CHECK_RUNNING;
}

/* Our own servers each test every other; for remote servers this machine tests each one. */
static size_t count_ways(const struct check *check)
{
	if (check->request.is_remote)
		return check->request.n_servers;
	return check->n_tasks * (check->n_tasks - 1);
}

static enum check_state evaluate_network_step(struct check *check, instant now)
{
	if (check->network.count < count_ways(check))
		return CHECK_RUNNING;
	return check_diagnose_network(check, now) ? CHECK_FAILED : CHECK_PASSED;
}

static bool has_device_error(const struct check *check)
{
	return check->probe_error && check->probe_error_step == CHECK_DEVICES;
}

/* The number of a remote cluster's tasks is known once the list is complete. */
static enum check_state evaluate_device_step(struct check *check, instant now)
{
	bool has_ended = check->jobs[CHECK_PROBE_JOB].has_ended;
	bool any_has_run = check_count_tasks(check, check_task_has_run) > 0;
	bool is_complete = has_ended || any_has_run || !check->request.is_remote;

	if (is_complete && all_are(check, check_task_is_listed) && !has_device_error(check))
		return check_diagnose_size(check, now) ? CHECK_FAILED : CHECK_PASSED;
	if (!has_ended)
		return CHECK_RUNNING;
	check_diagnose_probe(check, CHECK_DEVICES, now);
	return CHECK_FAILED;
}

static enum check_state evaluate_session_step(struct check *check, instant now)
{
	const struct check_job_record *probe = &check->jobs[CHECK_PROBE_JOB];

	if (!probe->has_ended)
		return CHECK_RUNNING;
	if (probe->exit_code == 0 && all_are(check, check_task_has_run))
		return CHECK_PASSED;
	check_diagnose_probe(check, CHECK_SESSION, now);
	return CHECK_FAILED;
}

static bool all_have_trained(const struct check *check)
{
	for (size_t i = 0; i < check->n_trainers; i++)
		if (!check->trainers[i].has_ended)
			return false;
	return true;
}

static enum check_state evaluate_training_step(struct check *check, instant now)
{
	if (all_have_trained(check))
		return CHECK_PASSED;
	if (!check->jobs[CHECK_MODEL_JOB].has_ended)
		return CHECK_RUNNING;
	check_diagnose_training(check, now);
	return CHECK_FAILED;
}

static enum check_state evaluate_result_step(struct check *check, instant now)
{
	if (!check->jobs[CHECK_MODEL_JOB].has_ended)
		return CHECK_RUNNING;
	if (check_diagnose_result(check, now))
		return CHECK_FAILED;
	return check_result_is_judged(check) ? CHECK_PASSED : CHECK_SKIPPED;
}

/* Library and data are recorded, not evaluated. */
static enum check_state evaluate_check_step(struct check *check, enum check_step step, instant now)
{
	switch (step) {
	case CHECK_SERVERS:
		return evaluate_server_step(check, now);
	case CHECK_NETWORK:
		return evaluate_network_step(check, now);
	case CHECK_DEVICES:
		return evaluate_device_step(check, now);
	case CHECK_SESSION:
		return evaluate_session_step(check, now);
	case CHECK_TRAINING:
		return evaluate_training_step(check, now);
	case CHECK_RESULT:
		return evaluate_result_step(check, now);
	case CHECK_LIBRARY:
	case CHECK_DATA:
	case CHECK_STEP_COUNT:
		break;
	}
	return CHECK_RUNNING;
}

static bool have_servers_ended(const struct check *check)
{
	return check_wants(check, CHECK_SERVERS_JOB) && check->jobs[CHECK_SERVERS_JOB].has_ended;
}

static bool any_is_stopped(const struct check *check)
{
	if (check_count_tasks(check, check_task_is_stopped) > 0)
		return true;
	for (size_t i = 0; i < check->n_trainers; i++)
		if (check->trainers[i].is_stopped)
			return true;
	return false;
}

/* Workers wait forever for a server that hangs, and do not name it. So the servers are asked,
 * unless it is already known, or the model has its own servers. */
static bool is_roll_call_due(const struct check *check, enum check_step step)
{
	return step >= CHECK_TRAINING && !check_model_brings_servers(check->request.model) &&
	       !any_is_stopped(check);
}

/* The time of a step has passed. */
static enum check_state time_out_check_step(struct check *check, enum check_step step, instant now)
{
	check_diagnose_silence(check, step, now);
	return CHECK_FAILED;
}

/* The model is stopped meanwhile, so its end has no meaning. */
static enum check_state evaluate_roll_call(struct check *check, enum check_step step, instant now)
{
	if (check->jobs[CHECK_ROLL_CALL_JOB].has_ended ||
	    instant_has_come(check_wake_at(check), now))
		return time_out_check_step(check, step, now);
	return CHECK_RUNNING;
}

enum check_state check_judge(struct check *check, enum check_step step, instant now)
{
	if (have_servers_ended(check)) {
		check_diagnose_servers(check, step, now);
		return CHECK_FAILED;
	}
	if (instant_is_set(check->roll_called))
		return evaluate_roll_call(check, step, now);
	enum check_state state = evaluate_check_step(check, step, now);

	if (state != CHECK_RUNNING || !instant_has_come(check_wake_at(check), now))
		return state;
	if (!is_roll_call_due(check, step))
		return time_out_check_step(check, step, now);
	check->roll_called = now;
	return CHECK_RUNNING;
}

/* The probe gives each task a few seconds; see check/command. */
#define ROLL_CALL_TIMEOUT (30 * MSEC_PER_SECOND)

enum check_step check_current_step(const struct check *check)
{
	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		if (check->steps[step].state == CHECK_RUNNING)
			return step;
	return CHECK_STEP_COUNT;
}

static bool is_under_way(const struct check *check, enum check_step step)
{
	return check->result == CHECK_OPEN && check->steps[step].state == CHECK_RUNNING;
}

static bool wants_servers(const struct check *check)
{
	const struct check_request *request = &check->request;
	enum check_step step = check_current_step(check);

	if (request->is_remote)
		return false;
	if (check->result != CHECK_OPEN)
		return check->result == CHECK_GOOD && request->is_setup_only;
	if (check_model_brings_servers(request->model) && step >= CHECK_TRAINING)
		return false;
	return step >= CHECK_SERVERS;
}

/* A model with its own servers waits until ours have ended. */
static bool wants_model(const struct check *check)
{
	const struct check_job_record *servers = &check->jobs[CHECK_SERVERS_JOB];

	if (check_model_brings_servers(check->request.model) && servers->has_started &&
	    !servers->has_ended)
		return false;
	if (instant_is_set(check->roll_called))
		return false;
	return is_under_way(check, CHECK_TRAINING) || is_under_way(check, CHECK_RESULT);
}

bool check_wants(const struct check *check, enum check_job job)
{
	switch (job) {
	case CHECK_SERVERS_JOB:
		return wants_servers(check);
	case CHECK_PROBE_JOB:
		return is_under_way(check, CHECK_DEVICES) || is_under_way(check, CHECK_SESSION);
	case CHECK_MODEL_JOB:
		return wants_model(check);
	case CHECK_ROLL_CALL_JOB:
		return check->result == CHECK_OPEN && instant_is_set(check->roll_called);
	case CHECK_JOB_COUNT:
		break;
	}
	return false;
}

bool check_suspects(const struct check *check)
{
	if (check->result != CHECK_OPEN)
		return false;
	for (size_t i = 0; i < check->n_trainers; i++)
		if (check->trainers[i].error)
			return true;
	return false;
}

instant check_wake_at(const struct check *check)
{
	enum check_step step = check_current_step(check);

	if (check->result != CHECK_OPEN || step == CHECK_STEP_COUNT)
		return INSTANT_NEVER;
	if (instant_is_set(check->roll_called))
		return instant_add(check->roll_called, ROLL_CALL_TIMEOUT);
	return instant_add(check->steps[step].started, check->request.timeout);
}

bool check_is_over(const struct check *check)
{
	if (check->result == CHECK_OPEN)
		return false;
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		const struct check_job_record *record = &check->jobs[job];

		if (record->has_started && !record->has_ended && !check_wants(check, job))
			return false;
	}
	return true;
}

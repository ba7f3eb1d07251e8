#include "core/check_want.h"

/* The probe asks each task for a few seconds; see core/check_command. */
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

/* A model that brings its own servers waits until ours have gone. */
static bool wants_model(const struct check *check)
{
	const struct check_job_record *servers = &check->jobs[CHECK_SERVERS_JOB];

	if (check_model_brings_servers(check->request.model) && servers->has_begun &&
	    !servers->has_ended)
		return false;
	if (check->roll_called != MSEC_UNSET)
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
		return check->result == CHECK_OPEN && check->roll_called != MSEC_UNSET;
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

msec check_wake_at(const struct check *check)
{
	enum check_step step = check_current_step(check);

	if (check->result != CHECK_OPEN || step == CHECK_STEP_COUNT)
		return MSEC_NEVER;
	if (check->roll_called != MSEC_UNSET)
		return check->roll_called + ROLL_CALL_TIMEOUT;
	return check->steps[step].begun + check->request.timeout;
}

bool check_is_over(const struct check *check)
{
	if (check->result == CHECK_OPEN)
		return false;
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		const struct check_job_record *record = &check->jobs[job];

		if (record->has_begun && !record->has_ended && !check_wants(check, job))
			return false;
	}
	return true;
}

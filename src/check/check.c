#include "check/check.h"

#include "base/exit_code.h"
#include "check/diagnosis.h"
#include "check/event.h"
#include "check/fault.h"
#include "check/judge.h"
#include "check/task.h"

#include <math.h>
#include <stdlib.h>

/* Beginning. */

static void skip(struct check *check, enum check_step step)
{
	check->steps[step].state = CHECK_SKIPPED;
}

static void skip_unrequested_steps(struct check *check)
{
	const struct check_request *request = &check->request;

	if (!request->data_dir || request->is_on_kubernetes)
		skip(check, CHECK_DATA);
	if (request->is_remote)
		skip(check, CHECK_SERVERS);
	if (request->is_remote && request->is_on_kubernetes)
		skip(check, CHECK_NETWORK);
	if (request->is_setup_only) {
		skip(check, CHECK_DEVICES);
		skip(check, CHECK_SESSION);
	}
	if (!check_request_trains(request)) {
		skip(check, CHECK_TRAINING);
		skip(check, CHECK_RESULT);
	}
}

static void add_own_tasks(struct check *check, const char *role, int count)
{
	for (int index = 0; index < count; index++)
		check_add_task(check, arena_format(check->arena, "%s-%d", role, index));
}

static void name_jobs(struct check *check)
{
	const char *name = check->request.name;

	check->jobs[CHECK_SERVERS_JOB].name = arena_copy_text(check->arena, name);
	check->jobs[CHECK_PROBE_JOB].name = arena_format(check->arena, "%s-probe", name);
	check->jobs[CHECK_ROLL_CALL_JOB].name = arena_format(check->arena, "%s-roll-call", name);
	check->jobs[CHECK_MODEL_JOB].name =
		arena_format(check->arena, "%s-%s", name, check_model_words[check->request.model]);
}

void check_init(struct check *check, const struct check_request *request, instant now)
{
	*check = (struct check){
		.request = *request,
		.arena = arena_new(),
		.started = now,
		.loss = NAN,
	};
	name_jobs(check);
	if (!request->is_remote) {
		add_own_tasks(check, "worker", request->workers);
		add_own_tasks(check, "ps", request->ps);
	}
	skip_unrequested_steps(check);
	if (request->is_on_kubernetes)
		skip(check, CHECK_LIBRARY);
	else
		check->steps[CHECK_LIBRARY] =
			(struct check_step_record){CHECK_RUNNING, now, INSTANT_UNSET};
}

void check_done(struct check *check)
{
	check_network_done(&check->network);
	json_free(check->figures);
	free(check->tasks);
	arena_free(check->arena);
}

/* Steps. */

/* Number of training workers: as requested, else what a remote cluster has, up to a few. */
static int choose_workers(const struct check *check)
{
	int there = check_count_workers(check);

	if (check->request.workers > 0)
		return check->request.workers;
	return there < CHECK_WORKERS ? there : CHECK_WORKERS;
}

static void add_trainers(struct check *check)
{
	const struct check_request *request = &check->request;
	const char *role = check_trainer_role(request->model);

	check->n_workers = choose_workers(check);
	check->n_trainers = (size_t) check_trainer_count(request->model, check->n_workers);
	check->trainers =
		arena_take_array(check->arena, check->n_trainers, sizeof(*check->trainers));
	for (size_t i = 0; i < check->n_trainers; i++)
		check->trainers[i].name = arena_format(check->arena, "%s-%zu", role, i);
}

static void start_check_step(struct check *check, enum check_step step, instant now)
{
	check->steps[step].state = CHECK_RUNNING;
	check->steps[step].started = now;
	if (step == CHECK_TRAINING)
		add_trainers(check);
}

static void finish_check(struct check *check, enum check_result result, instant now)
{
	check->result = result;
	check->ended = now;
}

/* Our own servers test the network before they serve; remote ones are tested when the step
 * comes. */
static bool is_tried_beforehand(const struct check *check, enum check_step step)
{
	return step == CHECK_NETWORK && !check->request.is_remote && check->network.count > 0;
}

/* `state`: CHECK_PASSED, or CHECK_SKIPPED if nothing could be judged. */
static void pass(struct check *check, enum check_step step, enum check_state state, instant now)
{
	struct check_step_record *record = &check->steps[step];

	record->state = state;
	record->ended = now;
	if (is_tried_beforehand(check, step)) {
		record->started = check->network_started;
		record->ended = check->network_ended;
	}
}

/* The step to blame may have passed already, for instance if data turn out to be wrong in
 * training. */
static void fail_check(struct check *check, instant now)
{
	enum check_step step = check_current_step(check);

	if (step != CHECK_STEP_COUNT)
		check->steps[step].state = CHECK_WAITING;
	step = check->fault->step;
	check->steps[step].state = CHECK_FAILED;
	check->steps[step].ended = now;
	finish_check(check, CHECK_BAD, now);
}

static enum check_step find_next_check_step(const struct check *check)
{
	enum check_step step = 0;

	while (step < CHECK_STEP_COUNT && (check->steps[step].state == CHECK_PASSED ||
					   check->steps[step].state == CHECK_SKIPPED))
		step++;
	return step;
}

/* Performs as many steps as the facts allow. */
static void advance(struct check *check, instant now)
{
	while (check->result == CHECK_OPEN) {
		enum check_step step = find_next_check_step(check);

		if (step == CHECK_STEP_COUNT) {
			finish_check(check, CHECK_GOOD, now);
			return;
		}
		if (check->steps[step].state == CHECK_WAITING)
			start_check_step(check, step, now);
		enum check_state state = check_judge(check, step, now);

		if (state == CHECK_RUNNING)
			return;
		if (state == CHECK_FAILED) {
			fail_check(check, now);
			return;
		}
		pass(check, step, state, now);
	}
}

/* Events. */

static void pass_own_step(struct check *check, enum check_step step, instant now)
{
	if (!instant_is_set(check->steps[step].started))
		check->steps[step].started = check->started;
	pass(check, step, CHECK_PASSED, now);
	advance(check, now);
}

void check_record_library(struct check *check, const char *what, instant now)
{
	check->library = arena_copy_text(check->arena, what);
	pass_own_step(check, CHECK_LIBRARY, now);
}

void check_record_data(struct check *check, const char *what, instant now)
{
	check->files = arena_copy_text(check->arena, what);
	pass_own_step(check, CHECK_DATA, now);
}

void check_refuse(struct check *check, enum check_step step, const char *why, instant now)
{
	enum check_fault_kind kind = step == CHECK_LIBRARY ? CHECK_FAULT_LIBRARY : CHECK_FAULT_DATA;

	check_set_cause(check, kind, step, NULL, now, "%s", why);
	fail_check(check, now);
}

void check_job_started(struct check *check, enum check_job job, instant now)
{
	check->jobs[job].has_started = true;
	advance(check, now);
}

static void note_network(struct check *check, size_t count_before, instant now)
{
	if (check->network.count == count_before)
		return;
	if (count_before == 0)
		check->network_started = now;
	check->network_ended = now;
}

void check_add_event(struct check *check, const struct json *event, instant now)
{
	size_t n_ways = check->network.count;
	bool is_news = check_accept_event(check, CHECK_SERVERS_JOB, NULL, event);

	note_network(check, n_ways, now);
	if (is_news)
		advance(check, now);
}

void check_add_line(struct check *check, enum check_job job, const char *line, size_t len,
		    instant now)
{
	size_t n_ways = check->network.count;
	bool is_news = check_accept_line(check, job, line, len);

	note_network(check, n_ways, now);
	if (is_news)
		advance(check, now);
}

void check_job_ended(struct check *check, enum check_job job, int exit_code,
		     const struct status *status, instant now)
{
	struct check_job_record *record = &check->jobs[job];
	bool was_wanted = check_wants(check, job);

	record->has_ended = true;
	record->exit_code = exit_code;
	if (status)
		check_record_failure(check, job, status, was_wanted);
	if (check->result == CHECK_BAD && job == CHECK_SERVERS_JOB)
		check_revise_cause(check);
	advance(check, now);
}

/* Servers and training processes have the same names if workers are clients. */
void check_record_stopped(struct check *check, enum check_job job, const char *name,
			  bool is_stopped)
{
	struct check_trainer *trainer =
		job == CHECK_MODEL_JOB ? check_find_trainer(check, name) : NULL;
	struct check_task *task = trainer ? NULL : check_find_task(check, name);

	if (trainer)
		trainer->is_stopped = is_stopped;
	if (task)
		task->is_stopped = is_stopped;
}

void check_look(struct check *check, instant now)
{
	advance(check, now);
}

void check_interrupt(struct check *check, int signal_number, instant now)
{
	enum check_step step = check_current_step(check);

	if (check->result != CHECK_OPEN || step == CHECK_STEP_COUNT)
		return;
	check->signal = signal_number;
	check_set_cause(check, CHECK_FAULT_INTERRUPTED, step, NULL, now,
			"the check was interrupted in step %s", check_step_words[step]);
	fail_check(check, now);
	check->result = CHECK_INTERRUPTED;
}

int check_exit_code(const struct check *check)
{
	switch (check->result) {
	case CHECK_GOOD:
		return 0;
	case CHECK_INTERRUPTED:
		return EXIT_BY_SIGNAL + check->signal;
	case CHECK_BAD:
		return check_fault_is_absence(check) ? EXIT_NOT_REACHED : 1;
	case CHECK_OPEN:
	case CHECK_RESULT_COUNT:
		break;
	}
	return 1;
}

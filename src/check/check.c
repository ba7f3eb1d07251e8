#include "check/check.h"

#include "base/exit_code.h"
#include "check/diagnosis.h"
#include "check/event.h"

/* The probe gives each task a few seconds in the roll call; see check/command.c. */
#define ROLL_CALL_TIMEOUT (30 * MSEC_PER_SECOND)

/* Beginning. */

static void skip_unrequested_steps(struct check *check)
{
	const struct check_request *request = &check->request;
	bool trains = check_request_trains(request);
	const bool is_skipped[CHECK_STEP_COUNT] = {
		[CHECK_LIBRARY] = request->is_on_kubernetes,
		[CHECK_DATA] = !request->data_dir || request->is_on_kubernetes,
		[CHECK_SERVERS] = request->is_remote || request->is_for_torch,
		[CHECK_NETWORK] = request->is_remote && request->is_on_kubernetes,
		[CHECK_DEVICES] = request->is_setup_only,
		[CHECK_SESSION] = request->is_setup_only,
		[CHECK_TRAINING] = !trains,
		[CHECK_RESULT] = !trains,
	};

	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		if (is_skipped[step])
			check->steps[step].state = CHECK_SKIPPED;
}

static void add_own_tasks(struct check *check, const char *role, int count)
{
	for (int index = 0; index < count; index++)
		json_object_at(check->tasks, arena_format(check->arena, "%s-%d", role, index));
}

/* Number of training workers: as requested, else what a remote cluster has, up to a few. */
static void add_trainers(struct check *check)
{
	int there = check_count_workers(check), count = check->request.workers;

	if (count <= 0)
		count = there < CHECK_WORKERS ? there : CHECK_WORKERS;
	check->n_workers = count;
	if (check->request.model == CHECK_PS2)
		count = 1;
	for (int i = 0; i < count; i++)
		json_object_at(check->trainers,
			       arena_format(check->arena, "%s-%d", check_trainer_role(check), i));
}

void check_init(struct check *check, const struct check_request *request, instant now)
{
	struct arena *arena = arena_new();
	const char *name = request->name;

	*check = (struct check){
		.request = *request,
		.arena = arena,
		.started = now,
		.jobs =
			{
				[CHECK_SERVERS_JOB].name = arena_copy_text(arena, name),
				[CHECK_PROBE_JOB].name = arena_format(arena, "%s-probe", name),
				[CHECK_ROLL_CALL_JOB].name =
					arena_format(arena, "%s-roll-call", name),
				[CHECK_MODEL_JOB].name = arena_format(arena, "%s-%s", name,
								      check_request_model(request)),
			},
		.tasks = json_new_object(),
		.links = json_new_object(),
		.trainers = json_new_object(),
		.training = json_new_object(),
	};
	json_set_integer(check->training, "step", 0);
	json_set_integer(check->training, "of", 0);
	json_set(check->training, "loss", json_new_null());
	if (!request->is_remote) {
		add_own_tasks(check, "worker", request->workers);
		add_own_tasks(check, "ps", request->ps);
	}
	skip_unrequested_steps(check);
	if (request->is_for_torch) /* the processes that train are those of all steps */
		add_trainers(check);
	if (!request->is_on_kubernetes)
		check->steps[CHECK_LIBRARY] =
			(struct check_step_record){.state = CHECK_RUNNING, .started = now};
}

void check_done(struct check *check)
{
	json_free(check->tasks);
	json_free(check->links);
	json_free(check->trainers);
	json_free(check->training);
	json_free(check->data);
	json_free(check->figures);
	json_free(check->probe_error);
	arena_free(check->arena);
}

/* A remote cluster has no tasks before they are known. */
static bool all_have(const struct json *processes, const char *fact)
{
	size_t count = json_count(processes);

	return count > 0 && check_count_with(processes, fact) == count;
}

/* Which step, and whether it has passed. */

enum check_step check_current_step(const struct check *check)
{
	enum check_step step = 0;

	while (step < CHECK_STEP_COUNT && check->steps[step].state != CHECK_RUNNING)
		step++;
	return step;
}

/* The job that tests devices and operations. */
static enum check_job check_tester(const struct check *check)
{
	return check->request.is_for_torch ? CHECK_MODEL_JOB : CHECK_PROBE_JOB;
}

static enum check_state diagnose_tester(struct check *check, enum check_step step, instant now)
{
	if (check->request.is_for_torch)
		check_diagnose_training(check, step, now);
	else
		check_diagnose_probe(check, step, now);
	return CHECK_FAILED;
}

/* Our own servers each test every other; for remote servers this machine tests each one. */
static enum check_state evaluate_network_step(struct check *check, instant now)
{
	size_t n_tasks = json_count(check->tasks);
	size_t n_links =
		check->request.is_remote ? check->request.n_servers : n_tasks * (n_tasks - 1);

	if (json_count(check->links) < n_links)
		return check->jobs[CHECK_MODEL_JOB].has_ended
			       ? diagnose_tester(check, CHECK_NETWORK, now)
			       : CHECK_RUNNING;
	return check_diagnose_network(check, now) ? CHECK_FAILED : CHECK_PASSED;
}

/* The number of a remote cluster's tasks is known once the list is complete. */
static enum check_state evaluate_device_step(struct check *check, instant now)
{
	bool has_ended = check->jobs[check_tester(check)].has_ended;
	bool is_complete =
		has_ended || !check->request.is_remote || check_count_with(check->tasks, "ran") > 0;

	if (is_complete && all_have(check->tasks, "devices") &&
	    check_probe_error_step(check) != CHECK_DEVICES)
		return check_diagnose_size(check, now) ? CHECK_FAILED : CHECK_PASSED;
	return has_ended ? diagnose_tester(check, CHECK_DEVICES, now) : CHECK_RUNNING;
}

static enum check_state evaluate_session_step(struct check *check, instant now)
{
	const struct check_job_record *tester = &check->jobs[check_tester(check)];
	bool is_complete = all_have(check->tasks, "ran");

	if (is_complete && check->request.is_for_torch)
		return CHECK_PASSED;
	if (!tester->has_ended)
		return CHECK_RUNNING;
	return is_complete && tester->exit_code == 0 ? CHECK_PASSED
						     : diagnose_tester(check, CHECK_SESSION, now);
}

static enum check_state evaluate_training_step(struct check *check, instant now)
{
	if (all_have(check->trainers, "ends"))
		return CHECK_PASSED;
	if (!check->jobs[CHECK_MODEL_JOB].has_ended)
		return CHECK_RUNNING;
	check_diagnose_training(check, CHECK_TRAINING, now);
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

static enum check_state evaluate_servers_step(struct check *check, instant now)
{
	(void) now;
	return all_have(check->tasks, "target") ? CHECK_PASSED : CHECK_RUNNING;
}

/* Library and data are recorded, not evaluated. */
static enum check_state (*const evaluations[CHECK_STEP_COUNT])(struct check *check, instant now) = {
	[CHECK_SERVERS] = evaluate_servers_step,   [CHECK_NETWORK] = evaluate_network_step,
	[CHECK_DEVICES] = evaluate_device_step,    [CHECK_SESSION] = evaluate_session_step,
	[CHECK_TRAINING] = evaluate_training_step, [CHECK_RESULT] = evaluate_result_step,
};

/* Workers wait forever for a server that hangs, and do not name it. So the servers are asked,
 * unless it is already known, or the model has its own servers. */
static bool is_roll_call_due(const struct check *check, enum check_step step)
{
	return step >= CHECK_TRAINING && !instant_is_set(check->roll_called) &&
	       !check_request_needs_no_servers(&check->request) &&
	       !check_first_with(check->tasks, "stopped") &&
	       !check_first_with(check->trainers, "stopped");
}

/* Passed, skipped, failed (then the check's fault is set) or still running. The end of servers ends
 * every step that needs them, and so does the step's time limit. During the roll call the model is
 * stopped, so its end has no meaning. */
static enum check_state judge(struct check *check, enum check_step step, instant now)
{
	bool is_calling = instant_is_set(check->roll_called);
	bool has_answer = check->jobs[CHECK_ROLL_CALL_JOB].has_ended;

	if (check_wants(check, CHECK_SERVERS_JOB) && check->jobs[CHECK_SERVERS_JOB].has_ended) {
		check_diagnose_servers(check, step, now);
		return CHECK_FAILED;
	}
	enum check_state state =
		is_calling || !evaluations[step] ? CHECK_RUNNING : evaluations[step](check, now);

	if (state != CHECK_RUNNING ||
	    !(instant_has_come(check_wake_at(check), now) || (is_calling && has_answer)))
		return state;
	if (is_roll_call_due(check, step)) {
		check->roll_called = now;
		return CHECK_RUNNING;
	}
	check_diagnose_silence(check, step, now);
	return CHECK_FAILED;
}

/* Steps. */

static void finish_check(struct check *check, enum check_result result, instant now)
{
	check->result = result;
	check->ended = now;
}

/* `state`: CHECK_PASSED, or CHECK_SKIPPED if nothing could be judged. Our own servers test the
 * network before they serve; remote ones are tested when the step comes. */
static void pass(struct check *check, enum check_step step, enum check_state state, instant now)
{
	struct check_step_record *record = &check->steps[step];

	record->state = state;
	record->ended = now;
	if (step == CHECK_NETWORK && !check->request.is_remote && json_count(check->links) > 0) {
		record->started = check->network_started;
		record->ended = check->network_ended;
	}
}

/* The step to blame may have passed already, as when data turn out to be wrong in training. */
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

/* Performs as many steps as the facts allow. */
void check_look(struct check *check, instant now)
{
	enum check_step step = 0;

	for (; check->result == CHECK_OPEN && step < CHECK_STEP_COUNT; step++) {
		struct check_step_record *record = &check->steps[step];

		if (record->state == CHECK_PASSED || record->state == CHECK_SKIPPED)
			continue;
		if (record->state == CHECK_WAITING) {
			record->state = CHECK_RUNNING;
			record->started = now;
			if (step == CHECK_TRAINING)
				add_trainers(check);
		}
		enum check_state state = judge(check, step, now);

		if (state == CHECK_RUNNING)
			return;
		if (state == CHECK_FAILED)
			fail_check(check, now);
		else
			pass(check, step, state, now);
	}
	if (check->result == CHECK_OPEN)
		finish_check(check, CHECK_GOOD, now);
}

/* Events. */

void check_record_found(struct check *check, enum check_step step, const char *what, instant now)
{
	check->steps[step].found = arena_copy_text(check->arena, what);
	if (!instant_is_set(check->steps[step].started))
		check->steps[step].started = check->started;
	pass(check, step, CHECK_PASSED, now);
	check_look(check, now);
}

void check_refuse(struct check *check, enum check_step step, const char *why, instant now)
{
	enum check_fault_kind kind = step == CHECK_LIBRARY ? CHECK_FAULT_LIBRARY : CHECK_FAULT_DATA;

	check_set_fault(check, kind, step, NULL, now, "%s", why);
	fail_check(check, now);
}

void check_job_started(struct check *check, enum check_job job, instant now)
{
	check->jobs[job].has_started = true;
	check_look(check, now);
}

static void take_news(struct check *check, bool is_news, size_t n_links_before, instant now)
{
	if (n_links_before == 0)
		check->network_started = now;
	if (json_count(check->links) > n_links_before)
		check->network_ended = now;
	if (is_news)
		check_look(check, now);
}

void check_add_event(struct check *check, const struct json *event, instant now)
{
	size_t n_links = json_count(check->links);

	take_news(check, check_accept_event(check, CHECK_SERVERS_JOB, NULL, event), n_links, now);
}

void check_add_line(struct check *check, enum check_job job, const char *line, size_t len,
		    instant now)
{
	size_t n_links = json_count(check->links);

	take_news(check, check_accept_line(check, job, line, len), n_links, now);
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
		check_revise_fault(check);
	check_look(check, now);
}

/* Servers and training processes have the same names if workers are clients. */
void check_record_stopped(struct check *check, enum check_job job, const char *name,
			  bool is_stopped)
{
	struct json *trainer = job == CHECK_MODEL_JOB ? json_get(check->trainers, name) : NULL;
	struct json *process = trainer ? trainer : json_get(check->tasks, name);

	if (process)
		json_set_bool(process, "stopped", is_stopped);
}

void check_interrupt(struct check *check, int signal_number, instant now)
{
	enum check_step step = check_current_step(check);

	if (check->result != CHECK_OPEN || step == CHECK_STEP_COUNT)
		return;
	check->signal = signal_number;
	check_set_fault(check, CHECK_FAULT_INTERRUPTED, step, NULL, now,
			"the check was interrupted in step %s", check_step_words[step]);
	fail_check(check, now);
	check->result = CHECK_INTERRUPTED;
}

/* Wishes. */

/* A step that is performed by the processes of PyTorch. */
static bool is_of_torch(const struct check *check)
{
	return check->result == CHECK_OPEN && check->request.is_for_torch &&
	       check_current_step(check) >= CHECK_NETWORK;
}

static bool is_under_way(const struct check *check, enum check_step step)
{
	return check->result == CHECK_OPEN && check->steps[step].state == CHECK_RUNNING;
}

static bool wants_servers(const struct check *check)
{
	const struct check_request *request = &check->request;
	enum check_step step = check_current_step(check);

	if (request->is_remote || request->is_for_torch)
		return false;
	if (check->result != CHECK_OPEN)
		return check->result == CHECK_GOOD && request->is_setup_only;
	return step >= CHECK_SERVERS &&
	       !(check_request_needs_no_servers(request) && step >= CHECK_TRAINING);
}

/* A model with its own servers waits until ours have ended. */
static bool wants_model(const struct check *check)
{
	const struct check_job_record *servers = &check->jobs[CHECK_SERVERS_JOB];

	if (check_request_needs_no_servers(&check->request) && servers->has_started &&
	    !servers->has_ended)
		return false;
	if (instant_is_set(check->roll_called))
		return false;
	return is_of_torch(check) || is_under_way(check, CHECK_TRAINING) ||
	       is_under_way(check, CHECK_RESULT);
}

bool check_wants(const struct check *check, enum check_job job)
{
	if (job == CHECK_SERVERS_JOB)
		return wants_servers(check);
	if (job == CHECK_PROBE_JOB)
		return !is_of_torch(check) &&
		       (is_under_way(check, CHECK_DEVICES) || is_under_way(check, CHECK_SESSION));
	if (job == CHECK_MODEL_JOB)
		return wants_model(check);
	/* The roll call. */
	return check->result == CHECK_OPEN && instant_is_set(check->roll_called);
}

bool check_suspects(const struct check *check)
{
	return check->result == CHECK_OPEN && check_first_with(check->trainers, "message");
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

int check_exit_code(const struct check *check)
{
	if (check->result == CHECK_INTERRUPTED)
		return EXIT_BY_SIGNAL + check->signal;
	if (check->result == CHECK_BAD && check_fault_is_absence(check))
		return EXIT_NOT_REACHED;
	return check->result == CHECK_GOOD ? EXIT_DONE : EXIT_FAILED;
}

#include "check/diagnosis.h"

#include "base/exit_code.h"
#include "check/network.h"

#include <math.h>
#include <stdio.h>

/* When a kind of fault is only that something could not be found or reached. */
enum absence { NEVER, ALWAYS, OF_REMOTE_SERVERS, OF_THE_CLUSTER };

static const struct kind_row {
	const char *word;
	enum absence absence;
	const char *advice;
} kinds[CHECK_FAULT_COUNT] = {
	[CHECK_FAULT_LIBRARY] = {"NoLibrary", ALWAYS,
				 "install TensorFlow 2.12 or later (pip install tensorflow-cpu), "
				 "or name its library with --libtensorflow"},
	[CHECK_FAULT_DATA] = {"NoData", ALWAYS,
			      "set --data-dir to the directory with the files, or leave it out to "
			      "use built-in data"},
	[CHECK_FAULT_NOT_STARTED] = {"NotStarted", OF_THE_CLUSTER,
				     "fix the error above, and run the check again"},
	[CHECK_FAULT_IMAGE] = {"ImageWithoutServer", NEVER,
			       "use an --image with muster and TensorFlow; to add muster to an "
			       "image with TensorFlow: 'make server-image BASE=IMAGE'"},
	[CHECK_FAULT_SERVER] = {"ServerFailed", NEVER,
				"read the server's log, and fix what it reports; if it gives no "
				"reason, find out what killed it: the kernel sends SIGKILL when "
				"memory runs out (see dmesg)"},
	[CHECK_FAULT_STOPPED] = {"ProcessStopped", NEVER,
				 "continue the process (kill -CONT), and find out what paused it"},
	[CHECK_FAULT_SILENT_SERVER] = {"SilentServer", OF_REMOTE_SERVERS,
				       "read its log, check that the process is running and gets "
				       "CPU time, and raise --timeout on a slow machine"},
	[CHECK_FAULT_NAME] = {"NameUnknown", OF_REMOTE_SERVERS,
			      "make the name resolvable on that machine (DNS or /etc/hosts), or "
			      "use the IP address instead"},
	[CHECK_FAULT_PORT] = {"PortClosed", OF_REMOTE_SERVERS,
			      "if refused, check that the server runs and listens on this port; if "
			      "timed out, look for a firewall or NetworkPolicy in between"},
	[CHECK_FAULT_ANSWER] = {"WrongAnswer", OF_REMOTE_SERVERS,
				"find out what listens on that port: it does not speak the "
				"server's protocol"},
	[CHECK_FAULT_PROBE] = {"OperationFailed", OF_THE_CLUSTER,
			       "check that all servers have the same cluster spec and TensorFlow "
			       "version, and read the log of the task"},
	[CHECK_FAULT_TOO_FEW] = {"TooFewTasks", NEVER,
				 "ask for fewer workers (-w), or start more servers"},
	[CHECK_FAULT_TRAINER] = {"TrainingFailed", NEVER,
				 "the servers work: read the log of the training process"},
	[CHECK_FAULT_SILENT_TRAINER] =
		{"SilentTraining", NEVER,
		 "read the logs of workers and servers; if the steps went on until the end, give "
		 "the machine more time with --timeout"},
	[CHECK_FAULT_RESULT] = {"BadResult", NEVER,
				"the servers work, but the model did not learn: raise --steps if "
				"you set it; otherwise suspect broken hardware or a broken build"},
	[CHECK_FAULT_INTERRUPTED] = {"Interrupted", NEVER, "run the check again"},
};

const char *check_fault_word(const struct check *check)
{
	return kinds[check->fault->kind].word;
}

const char *check_fault_advice(const struct check *check)
{
	enum check_fault_kind kind = check->fault->kind;

	if (check->request.is_for_torch && kind == CHECK_FAULT_LIBRARY)
		return "install PyTorch: pip install torch";
	if (check->request.is_for_torch && kind == CHECK_FAULT_TRAINER)
		return "read the log of the process; a firewall between the processes, or an "
		       "interface that gloo must not use (GLOO_SOCKET_IFNAME), ends in such "
		       "errors, too";
	return kinds[check->fault->kind].advice;
}

bool check_fault_is_absence(const struct check *check)
{
	const struct check_request *request = &check->request;
	enum check_job first = request->is_remote ? CHECK_PROBE_JOB : CHECK_SERVERS_JOB;

	enum absence absence = kinds[check->fault->kind].absence;

	if (absence == OF_THE_CLUSTER) /* by the exit code of `muster run` for this */
		return request->is_on_kubernetes &&
		       check->jobs[first].exit_code == EXIT_NOT_REACHED;
	return absence == ALWAYS || (absence == OF_REMOTE_SERVERS && request->is_remote);
}

/* The job whose log has the reason: the one that runs what the step needs. */
static enum check_job job_of_step(const struct check *check, enum check_step step)
{
	if (step >= CHECK_TRAINING || check->request.is_for_torch)
		return CHECK_MODEL_JOB;
	return step >= CHECK_DEVICES && check->request.is_remote ? CHECK_PROBE_JOB
								 : CHECK_SERVERS_JOB;
}

static void set_job(struct check *check, enum check_job job)
{
	check->fault->job = check->jobs[job].has_started ? check->jobs[job].name : NULL;
	check->fault->is_of_task = job == CHECK_SERVERS_JOB || job == CHECK_MODEL_JOB;
}

void check_set_fault(struct check *check, enum check_fault_kind kind, enum check_step step,
		     const char *task, instant now, const char *format, ...)
{
	va_list values;

	if (check->fault)
		return;
	va_start(values, format);
	char *message CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	check->fault = arena_take(check->arena, sizeof(*check->fault));
	*check->fault = (struct check_fault){
		.kind = kind,
		.step = step,
		.task = arena_copy_text(check->arena, task),
		.message = arena_copy_text(check->arena, message),
		.time = now,
	};
	set_job(check, job_of_step(check, step));
}

const char *check_name_those_without(const struct json *processes, const char *fact,
				     struct text *text)
{
	size_t n_missing = json_count(processes) - check_count_with(processes, fact), n_named = 0;
	const char *first = NULL, *name = NULL;
	struct json *process;

	while (json_next(processes, &name, &process) && n_named < 2) {
		if (check_has(process, fact))
			continue;
		if (n_named++ == 0)
			first = name;
		text_addf(text, "%s%s", n_named == 1 ? "" : n_missing == 2 ? " and " : ", ", name);
	}
	if (n_missing > 2)
		text_addf(text, " and %zu more", n_missing - 2);
	return first;
}

/* Jobs. */

/* "ps-1 exited with code 1 after 2s (attempt 0): port 2222 is in use"; or a job that ended without
 * a failed replica: it never began, or a user ended it. */
static void blame_job(struct check *check, enum check_fault_kind kind, enum check_step step,
		      enum check_job job, const char *what, instant now)
{
	const struct check_job_record *record = &check->jobs[job];
	const char *why = record->failure ? record->cause : record->last_words;

	if (record->failure)
		check_set_fault(check, kind, step, record->failed, record->failed_at, "%s%s%s",
				record->failure, why ? ": " : "", why ? why : "");
	else
		check_set_fault(check, CHECK_FAULT_NOT_STARTED, step, NULL, now,
				"%s ended with code %d%s%s", what, record->exit_code,
				why ? ": " : "", why ? why : "");
	set_job(check, job);
}

void check_diagnose_servers(struct check *check, enum check_step step, instant now)
{
	bool is_of_image =
		check->request.is_on_kubernetes && check->jobs[CHECK_SERVERS_JOB].could_not_start;

	blame_job(check, is_of_image ? CHECK_FAULT_IMAGE : CHECK_FAULT_SERVER, step,
		  CHECK_SERVERS_JOB, "the servers' job", now);
}

void check_revise_fault(struct check *check)
{
	const struct check_job_record *servers = &check->jobs[CHECK_SERVERS_JOB];
	enum check_step step = check->fault->step;

	if (!servers->failure || instant_is_before(check->fault->time, servers->failed_at))
		return;
	check->fault = NULL;
	check_diagnose_servers(check, step, servers->failed_at);
}

/* The network. */

/* "ps-1 cannot reach worker-0 (127.0.0.1:2222): connection refused" */
bool check_diagnose_network(struct check *check, instant now)
{
	size_t count;
	const struct json *link = check_network_failed(check->links, &count);
	char more[64] = "";

	if (!link)
		return false;
	const char *to = json_get_string(link, "to", NULL),
		   *address = json_get_string(link, "address", NULL);
	const char *stage = check_network_stage(link);
	bool has_name = !text_equals(stage, "resolve");
	bool has_address = address && !text_equals(address, to);
	enum check_fault_kind kind = !has_name                       ? CHECK_FAULT_NAME
				     : text_equals(stage, "connect") ? CHECK_FAULT_PORT
								     : CHECK_FAULT_ANSWER;

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu more %s)", count - 1,
			 count == 2 ? "link fails" : "links fail");
	check_set_fault(check, kind, CHECK_NETWORK, json_get(check->tasks, to) ? to : NULL, now,
			"%s cannot %s %s%s%s%s: %s%s", json_get_string(link, "from", NULL),
			has_name ? "reach" : "find", to, has_address ? " (" : "",
			has_address ? address : "", has_address ? ")" : "",
			json_get_string(link, "error", NULL), more);
	return true;
}

/* The probe. */

bool check_diagnose_size(struct check *check, instant now)
{
	int there = check_count_workers(check);

	if (!check_request_trains(&check->request) || there >= check->request.workers)
		return false;
	check_set_fault(check, CHECK_FAULT_TOO_FEW, CHECK_DEVICES, NULL, now,
			"%d workers were requested, but the cluster has %d", check->request.workers,
			there);
	return true;
}

enum check_step check_probe_error_step(const struct check *check)
{
	if (!check->probe_error)
		return CHECK_STEP_COUNT;
	return text_equals(json_get_string(check->probe_error, "step", NULL), "session")
		       ? CHECK_SESSION
		       : CHECK_DEVICES;
}

/* Two of TensorFlow's codes are those of unresponsive tasks (absl/status/status.h). */
void check_diagnose_probe(struct check *check, enum check_step step, instant now)
{
	const struct json *error = check->probe_error;
	const char *code = json_get_string(error, "code", "no code");
	bool is_silence =
		text_equals(code, "UNAVAILABLE") || text_equals(code, "DEADLINE_EXCEEDED");

	if (!error) {
		blame_job(check, CHECK_FAULT_PROBE, step, CHECK_PROBE_JOB, "the probe", now);
		return;
	}
	step = check_probe_error_step(check);
	check_set_fault(check, is_silence ? CHECK_FAULT_SILENT_SERVER : CHECK_FAULT_PROBE, step,
			json_get_string(error, "task", NULL), now, "%s failed with %s: %s",
			step == CHECK_DEVICES ? "listing the devices" : "running an operation",
			code, json_get_string(error, "message", "no reason given"));
}

/* The model. */

/* A paused process explains every silence. */
static bool blame_stopped(struct check *check, enum check_step step, instant now)
{
	const char *server = check_first_with(check->tasks, "stopped");
	const char *name = server ? server : check_first_with(check->trainers, "stopped");

	if (!name)
		return false;
	check_set_fault(check, CHECK_FAULT_STOPPED, step, name, now,
			"%s did not answer: its process is stopped (SIGSTOP)", name);
	if (server && !check->jobs[CHECK_SERVERS_JOB].has_ended)
		set_job(check, CHECK_SERVERS_JOB);
	return true;
}

/* The failed process's own message, if it failed first: the silent failure of a process says more
 * than the complaints of its peers. Wrong data are blamed on the step that checked the data, if it
 * was performed. A model may have its own servers in addition to the training processes. */
static void blame_trainers(struct check *check, enum check_step step, instant now)
{
	const char *failed = check->jobs[CHECK_MODEL_JOB].failed;
	const char *name = failed ? failed : check_first_with(check->trainers, "message");
	const struct json *trainer = json_get(check->trainers, name ? name : "");
	const char *complaint = json_get_string(trainer, "message", NULL);
	bool is_of_data = text_equals(json_get_string(trainer, "step", NULL), "data");
	bool has_data_step = check->steps[CHECK_DATA].state != CHECK_SKIPPED;

	if (blame_stopped(check, step, now))
		return;
	if (complaint) {
		check_set_fault(check, is_of_data ? CHECK_FAULT_DATA : CHECK_FAULT_TRAINER,
				is_of_data && has_data_step ? CHECK_DATA
				: step > CHECK_TRAINING     ? CHECK_TRAINING
							    : step,
				name, now, "%s: %s", name, complaint);
		set_job(check, CHECK_MODEL_JOB);
	} else {
		blame_job(check, failed && !trainer ? CHECK_FAULT_SERVER : CHECK_FAULT_TRAINER,
			  step, CHECK_MODEL_JOB, "the model", now);
	}
}

void check_diagnose_training(struct check *check, enum check_step step, instant now)
{
	struct text text CLEANUP(text_done) = {0};

	if (check->jobs[CHECK_MODEL_JOB].exit_code != 0) {
		blame_trainers(check, step, now);
		return;
	}
	const char *first = check_name_those_without(check->trainers, "ends", &text);

	check_set_fault(check, CHECK_FAULT_TRAINER, step, first, now, "%s exited without training",
			text_of(&text));
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
		check_set_fault(check, CHECK_FAULT_RESULT, CHECK_RESULT, NULL, now,
				"the workers ended, but none reported a result");
	else if (loss <= 0)
		check_set_fault(check, CHECK_FAULT_RESULT, CHECK_RESULT, NULL, now,
				"the validation cross entropy is not a positive number");
	else if (loss >= bound)
		check_set_fault(check, CHECK_FAULT_RESULT, CHECK_RESULT, NULL, now,
				"the validation cross entropy is %.3g, which is not below %.3g",
				loss, bound);
	else
		return false;
	return true;
}

/* Silence. */

/* A Pod that is not running waits for something, in muster's words. */
static void blame_silent_tasks(struct check *check, enum check_step step, const char *time,
			       instant now)
{
	const struct check_task_fact *fact = &check_task_facts[step];
	struct text text CLEANUP(text_done) = {0};
	const char *first = check_name_those_without(check->tasks, fact->name, &text);
	bool is_of_pods = check->request.is_on_kubernetes && step == CHECK_SERVERS;
	const char *obstacle = is_of_pods ? check->jobs[CHECK_SERVERS_JOB].last_words : NULL;

	check_set_fault(check, CHECK_FAULT_SILENT_SERVER, step, first, now,
			"%s did not %s within %s%s%s", first ? text_of(&text) : "the servers",
			fact->verb, time, obstacle ? ": " : "", obstacle ? obstacle : "");
}

static void blame_silent_network(struct check *check, const char *time, instant now)
{
	const char *from, *to;
	struct json *task;

	for (from = NULL; json_next(check->tasks, &from, &task);)
		for (to = NULL; json_next(check->tasks, &to, &task);)
			if (!text_equals(from, to) && !check_network_find(check->links, from, to))
				check_set_fault(check, CHECK_FAULT_SILENT_SERVER, CHECK_NETWORK,
						from, now,
						"%s did not report within %s whether it reaches %s",
						from, time, to);
	check_set_fault(check, CHECK_FAULT_SILENT_SERVER, CHECK_NETWORK, NULL, now,
			"the servers were not tested within %s", time);
}

/* Blames the tasks that did not answer the roll call, else the training processes. */
static void blame_silent_training(struct check *check, enum check_step step, const char *time,
				  instant now)
{
	struct text absent CLEANUP(text_done) = {0}, text CLEANUP(text_done) = {0};
	const char *server = check_name_those_without(check->tasks, "answered", &absent);
	const char *trainer = check_name_those_without(check->trainers, "ends", &text);
	int64_t wanted = json_as_integer(json_get(check->training, "of"), 0);

	if (instant_is_set(check->roll_called) && server) {
		check_set_fault(check, CHECK_FAULT_SILENT_SERVER, step, server, now,
				"%s stopped answering; training did not end within %s",
				text_of(&absent), time);
		if (!check->request.is_remote)
			set_job(check, CHECK_SERVERS_JOB);
		return;
	}
	text_addf(&text, "%s did not end within %s", trainer ? "" : "the model's processes", time);
	if (wanted > 0)
		text_addf(&text, "; the last reported step was %lld of %lld",
			  (long long) json_as_integer(json_get(check->training, "step"), 0),
			  (long long) wanted);
	check_set_fault(check, CHECK_FAULT_SILENT_TRAINER, step, trainer, now, "%s",
			text_of(&text));
}

void check_diagnose_silence(struct check *check, enum check_step step, instant now)
{
	struct text duration CLEANUP(text_done) = {0};

	text_add_duration(&duration, check->request.timeout);
	const char *time = text_of(&duration);

	if (blame_stopped(check, step, now) ||
	    (step == CHECK_SERVERS && check_diagnose_network(check, now)))
		return;
	if (check_task_facts[step].name)
		blame_silent_tasks(check, step, time, now);
	else if (step == CHECK_NETWORK)
		blame_silent_network(check, time, now);
	else if (step == CHECK_TRAINING || step == CHECK_RESULT)
		blame_silent_training(check, step, time, now);
	else
		check_set_fault(check, CHECK_FAULT_NOT_STARTED, step, NULL, now,
				"no server was found within %s", time);
}

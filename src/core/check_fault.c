#include "core/check_fault.h"

#include "base/exit_code.h"
#include "base/mem.h"

#include <stdarg.h>

/* Of `muster run`. */

static const struct kind_row {
	const char *word;
	const char *advice;
} kinds[CHECK_FAULT_COUNT] = {
	[CHECK_FAULT_LIBRARY] =
		{"NoLibrary", "install TensorFlow 2.12 or later (pip install tensorflow-cpu), or "
			      "say where its library is with --libtensorflow"},
	[CHECK_FAULT_DATA] = {"NoData",
			      "give --data-dir the folder that has the files, or leave it out: "
			      "then the model brings data of its own"},
	[CHECK_FAULT_NOT_STARTED] = {"NotStarted", "do what the sentence says, and check again"},
	[CHECK_FAULT_IMAGE] = {"ImageWithoutServer",
			       "give an --image that has muster and TensorFlow: 'make server-image "
			       "BASE=IMAGE' puts muster on one that has TensorFlow"},
	[CHECK_FAULT_SERVER_DIED] =
		{"ServerDied",
		 "read the server's log; without a reason there, find what killed it: SIGKILL is "
		 "what the kernel ends a process with when memory runs out (dmesg)"},
	[CHECK_FAULT_SERVER_FAILED] = {"ServerFailed", "do what the server says; its log has more"},
	[CHECK_FAULT_SERVER_STOPPED] = {"ServerStopped",
					"let the process go on (kill -CONT), and find out what "
					"stopped it"},
	[CHECK_FAULT_SILENT_SERVER] =
		{"SilentServer",
		 "read the server's log, look whether its process still runs and has processor "
		 "time, and give a slow machine more time with --timeout"},
	[CHECK_FAULT_NAME] = {"NameUnknown",
			      "make the name known where it was asked for (DNS or /etc/hosts), or "
			      "write the address in its place"},
	[CHECK_FAULT_PORT] =
		{"PortClosed",
		 "refused: look whether the server runs and serves this port; no answer: look "
		 "for a firewall or a network policy between the two"},
	[CHECK_FAULT_ANSWER] = {"WrongAnswer",
				"find what listens on that port: it does not speak as the server "
				"should"},
	[CHECK_FAULT_PROBE] =
		{"OperationFailed",
		 "look whether all servers have the same cluster spec and the same release of "
		 "TensorFlow, and read the log of the task"},
	[CHECK_FAULT_TOO_FEW] = {"TooFewTasks",
				 "ask for fewer workers (-w), or start more servers"},
	[CHECK_FAULT_TRAINER_DIED] = {"TrainingFailed",
				      "the servers are well: read the log of the process that "
				      "trained"},
	[CHECK_FAULT_TRAINER_STOPPED] = {"TrainingStopped",
					 "let the process go on (kill -CONT), and find out what "
					 "stopped it"},
	[CHECK_FAULT_SILENT_TRAINER] =
		{"SilentTraining",
		 "read the logs of workers and servers; if the steps went on until the end, give "
		 "the machine more time with --timeout"},
	[CHECK_FAULT_RESULT] =
		{"BadResult",
		 "the servers work, but what they computed is not good: with --steps, ask for "
		 "more of them; without, look for broken hardware or a broken build"},
	[CHECK_FAULT_INTERRUPTED] = {"Interrupted", "check again when nothing interrupts it"},
};

const char *check_fault_word(enum check_fault_kind kind)
{
	return kinds[kind].word;
}

const char *check_fault_advice(const struct check *check)
{
	return kinds[check->fault->kind].advice;
}

/* `muster run` says so of a cluster that does not answer or lets nobody in. */
static bool is_cluster_out_of_reach(const struct check *check)
{
	const struct check_request *request = &check->request;
	enum check_job first = request->is_remote ? CHECK_PROBE_JOB : CHECK_SERVERS_JOB;

	return request->is_on_kubernetes && check->jobs[first].exit_code == EXIT_NOT_REACHED;
}

bool check_fault_is_absence(const struct check *check)
{
	switch (check->fault->kind) {
	case CHECK_FAULT_LIBRARY:
	case CHECK_FAULT_DATA:
		return true;
	case CHECK_FAULT_NAME:
	case CHECK_FAULT_PORT:
	case CHECK_FAULT_ANSWER:
	case CHECK_FAULT_SILENT_SERVER:
		return check->request.is_remote;
	case CHECK_FAULT_NOT_STARTED:
	case CHECK_FAULT_PROBE:
		return is_cluster_out_of_reach(check);
	case CHECK_FAULT_IMAGE:
	case CHECK_FAULT_SERVER_DIED:
	case CHECK_FAULT_SERVER_FAILED:
	case CHECK_FAULT_SERVER_STOPPED:
	case CHECK_FAULT_TOO_FEW:
	case CHECK_FAULT_TRAINER_DIED:
	case CHECK_FAULT_TRAINER_STOPPED:
	case CHECK_FAULT_SILENT_TRAINER:
	case CHECK_FAULT_RESULT:
	case CHECK_FAULT_INTERRUPTED:
	case CHECK_FAULT_COUNT:
		break;
	}
	return false;
}

/* The job in whose log the reason is to be found: the one that runs what the step needs. */
static enum check_job job_of_step(const struct check *check, enum check_step step)
{
	if (step >= CHECK_TRAINING)
		return CHECK_MODEL_JOB;
	if (step >= CHECK_DEVICES && check->request.is_remote)
		return CHECK_PROBE_JOB;
	return CHECK_SERVERS_JOB;
}

void check_fault_set_job(struct check *check, enum check_job job)
{
	check->fault->job = check->jobs[job].has_started ? check->jobs[job].name : NULL;
	check->fault->is_of_task = job == CHECK_SERVERS_JOB || job == CHECK_MODEL_JOB;
}

void check_blame(struct check *check, enum check_fault_kind kind, enum check_step step,
		 const char *task, msec now, const char *format, ...)
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
	check_fault_set_job(check, job_of_step(check, step));
}

#include "check/fault.h"

#include "base/exit_code.h"
#include "base/mem.h"

#include <stdarg.h>

/* Exit code of `muster run`. */

static const struct kind_row {
	const char *word;
	const char *advice;
} kinds[CHECK_FAULT_COUNT] = {
	[CHECK_FAULT_LIBRARY] = {"NoLibrary",
				 "install TensorFlow 2.12 or later (pip install tensorflow-cpu), "
				 "or name its library with --libtensorflow"},
	[CHECK_FAULT_DATA] = {"NoData", "set --data-dir to the directory with the files, or leave "
					"it out to use built-in data"},
	[CHECK_FAULT_NOT_STARTED] = {"NotStarted", "fix the error above, and run the check again"},
	[CHECK_FAULT_IMAGE] = {"ImageWithoutServer",
			       "use an --image with muster and TensorFlow; to add muster to an "
			       "image with TensorFlow: 'make server-image BASE=IMAGE'"},
	[CHECK_FAULT_SERVER_DIED] =
		{"ServerDied", "read the server's log; if it gives no reason, find out what killed "
			       "it: the kernel sends SIGKILL when memory runs out (see dmesg)"},
	[CHECK_FAULT_SERVER_FAILED] = {"ServerFailed",
				       "fix the error that the server reports; see its log"},
	[CHECK_FAULT_SERVER_STOPPED] =
		{"ServerStopped", "continue the process (kill -CONT), and find out what paused it"},
	[CHECK_FAULT_SILENT_SERVER] = {"SilentServer",
				       "read the server's log, check that its process is running "
				       "and gets CPU time, and raise --timeout on a slow machine"},
	[CHECK_FAULT_NAME] = {"NameUnknown", "make the name resolvable on that machine (DNS or "
					     "/etc/hosts), or use the IP address instead"},
	[CHECK_FAULT_PORT] = {"PortClosed",
			      "if refused, check that the server runs and listens on this port; if "
			      "timed out, look for a firewall or NetworkPolicy in between"},
	[CHECK_FAULT_ANSWER] =
		{"WrongAnswer",
		 "find out what listens on that port: it does not speak the server's protocol"},
	[CHECK_FAULT_PROBE] = {"OperationFailed",
			       "check that all servers have the same cluster spec and TensorFlow "
			       "version, and read the log of the task"},
	[CHECK_FAULT_TOO_FEW] = {"TooFewTasks",
				 "ask for fewer workers (-w), or start more servers"},
	[CHECK_FAULT_TRAINER_DIED] = {"TrainingFailed",
				      "the servers work: read the log of the training process"},
	[CHECK_FAULT_TRAINER_STOPPED] =
		{"TrainingStopped",
		 "continue the process (kill -CONT), and find out what paused it"},
	[CHECK_FAULT_SILENT_TRAINER] =
		{"SilentTraining",
		 "read the logs of workers and servers; if the steps went on until the end, give "
		 "the machine more time with --timeout"},
	[CHECK_FAULT_RESULT] = {"BadResult",
				"the servers work, but the model did not learn: raise --steps if "
				"you set it; otherwise suspect broken hardware or a broken build"},
	[CHECK_FAULT_INTERRUPTED] = {"Interrupted", "run the check again"},
};

const char *check_fault_word(enum check_fault_kind kind)
{
	return kinds[kind].word;
}

const char *check_fault_advice(const struct check *check)
{
	return kinds[check->fault->kind].advice;
}

/* `muster run` has this exit code if the cluster did not respond or rejected the login. */
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

/* The job whose log has the reason: the one that runs what the step needs. */
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

void check_set_cause(struct check *check, enum check_fault_kind kind, enum check_step step,
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
	check_fault_set_job(check, job_of_step(check, step));
}

/* The known facts of a check: its steps, jobs, servers and training processes. */
#pragma once

#include "base/instant.h"
#include "base/json.h"
#include "check/request.h"

enum check_step {
	CHECK_LIBRARY, /* TensorFlow's C library and Python are found */
	CHECK_DATA, /* the data directory has its files */
	CHECK_SERVERS, /* every server serves */
	CHECK_NETWORK, /* every server reaches every other */
	CHECK_DEVICES, /* the devices of each task are listed */
	CHECK_SESSION, /* an operation runs on each task */
	CHECK_TRAINING, /* every worker trains to its end */
	CHECK_RESULT, /* and the trained result is good */
	CHECK_STEP_COUNT,
};
extern const char *const check_step_words[CHECK_STEP_COUNT]; /* "library" … */
/* The fact that every task has once a step has passed ("target"), as in "3 of 4 serving" and "ps-1
 * did not serve". NULL: the step is about something else. */
extern const struct check_task_fact {
	const char *name, *doing, *verb;
} check_task_facts[CHECK_STEP_COUNT];

enum check_state {
	CHECK_WAITING, /* not reached */
	CHECK_RUNNING,
	CHECK_PASSED,
	CHECK_FAILED,
	CHECK_SKIPPED, /* not requested, or nothing could be judged */
	CHECK_STATE_COUNT,
};
extern const char *const check_state_words[CHECK_STATE_COUNT]; /* "waiting" … */

enum check_result {
	CHECK_OPEN,
	CHECK_GOOD,
	CHECK_BAD,
	CHECK_INTERRUPTED,
	CHECK_RESULT_COUNT,
};
extern const char *const check_result_words[CHECK_RESULT_COUNT]; /* "running", "passed" … */

/* The jobs that a check runs. */
enum check_job {
	CHECK_SERVERS_JOB,
	CHECK_PROBE_JOB,
	CHECK_MODEL_JOB,
	CHECK_ROLL_CALL_JOB, /* the probe once more, after training failed */
	CHECK_JOB_COUNT,
};

struct check_step_record {
	enum check_state state;
	instant started, ended; /* INSTANT_UNSET: not yet */
	const char *found; /* of a step that muster performs itself, in words */
};

struct check_job_record {
	const char *name;
	bool has_started, has_ended;
	int exit_code;
	const char *last_words; /* muster's own last line, "muster: …"; or NULL */
	/* What failed first, other than by muster's request; NULL and 0: nothing. */
	const char *failure; /* "ps-1 was killed by signal 9 (SIGKILL) after 12s (attempt 0)" */
	const char *failed; /* "ps-1"; NULL: the whole job */
	const char *cause; /* the failed replica's last output; or NULL */
	bool could_not_start; /* the failed replica's program does not exist, or cannot run */
	instant failed_at;
};

struct check {
	struct check_request request; /* its texts are borrowed */
	struct arena *arena; /* of all texts below */
	enum check_result result;
	msec began; /* when it started, by the wall clock */
	instant started, ended;
	int signal; /* the signal that interrupted it */
	struct check_step_record steps[CHECK_STEP_COUNT];
	struct check_job_record jobs[CHECK_JOB_COUNT];

	/* What the events said, made safe for a terminal. The servers by task ("worker-0"):
	 * "target", "version", "seconds" until it served, "devices", "ran": an operation,
	 * "answered" the roll call, "stopped": its process was found paused (SIGSTOP). */
	struct json *tasks;
	struct json *links; /* "network" events by their two ends; see check/network.h */
	/* The training processes by name: "begins", "ends", "step", "stopped", and the "message" of
	 * one that failed, with "data" if the data are to blame. */
	struct json *trainers;
	struct json *training; /* "step", "of" and "loss" of the most advanced one */
	struct json *data, *figures; /* the model's "data" and "result"; NULL: none yet */
	struct json *probe_error; /* the first "error" of the probe; or NULL */
	size_t n_events; /* number of events received */
	instant network_started, network_ended; /* times of the first and last event about it */

	int n_workers; /* number of training workers; known when training begins */
	instant roll_called; /* when the roll call was requested; INSTANT_UNSET: it was not */
	struct check_fault *fault; /* see check/diagnosis.h; NULL: none so far */
};

/* The role of the training processes: "worker", or for ps2 "chief". */
const char *check_trainer_role(const struct check *check);
/* Number of tasks of the role worker. */
int check_count_workers(const struct check *check);
/* Whether a server or training process has a fact: "target", "ran"; their number, and the first. */
bool check_has(const struct json *process, const char *fact);
size_t check_count_with(const struct json *processes, const char *fact);
const char *check_first_with(const struct json *processes, const char *fact); /* NULL: none */

/* What is known of a check so far: its steps, jobs, servers and processes that train, and what went
 * wrong first. Only check/check* writes here; reports read. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "check/network.h"
#include "check/server.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_model {
	CHECK_MNIST,
	CHECK_CENSUS,
	CHECK_MWMS,
	CHECK_PS2,
	CHECK_NO_MODEL,
	CHECK_MODEL_COUNT,
};
extern const char *const check_model_words[CHECK_MODEL_COUNT]; /* "mnist" … "none" */
#define CHECK_MODEL_CHOICE "mnist|census|mwms|ps2|none" /* the same, for an option */

/* Servers of one role that a check may start, or train with. */
#define CHECK_SERVERS_MOST 50
/* Workers that train when nothing else was said. */
#define CHECK_WORKERS 2
/* After how long a step is given up: what TensorFlow's own test of distributed MNIST allowed
 * (tools/dist_test/scripts/dist_mnist_test.sh). */
#define CHECK_TIMEOUT "2m"

struct check_request {
	const char *name; /* "check-x1y2z": of the servers' job, and the beginning of the others' */
	enum check_model model;
	int workers; /* of a remote check: 0 means those that are there, at most CHECK_WORKERS */
	int ps;
	bool is_sync;
	bool is_setup_only; /* the servers stay, in the background */
	bool has_private_network; /* nobody else reaches them */
	int64_t steps; /* 0: as many as the model has by itself */
	const char *data_dir; /* NULL: the models bring their data */
	const char *libtensorflow; /* as given; NULL: found */
	const char *state_dir; /* as given; NULL: the default */
	msec timeout; /* of each step */

	bool is_remote; /* servers that exist: */
	const struct check_server *servers;
	size_t n_servers;

	/* Everything that the check starts is Pods of a cluster: servers, where they do not exist
	 * already, and their clients. `place` are the options of `muster run` that say which
	 * cluster and what kind of Pods; it ends with NULL. */
	bool is_on_kubernetes;
	const char *const *place;
};

/* MultiWorkerMirroredStrategy and ParameterServerStrategy start servers themselves, inside of the
 * model's own processes. */
bool check_model_brings_servers(enum check_model model);
/* Something trains, and the steps behind the session are made. */
bool check_request_trains(const struct check_request *request);

/* The role of the processes that train ("worker", for ps2 "chief"), and how many. */
const char *check_trainer_role(enum check_model model);
int check_trainer_count(enum check_model model, int workers);

enum check_step {
	CHECK_LIBRARY, /* TensorFlow's C library and Python are found */
	CHECK_DATA, /* the data folder has its files */
	CHECK_SERVERS, /* every server serves */
	CHECK_NETWORK, /* every server reaches every other */
	CHECK_DEVICES, /* the devices of each task are listed */
	CHECK_SESSION, /* an operation runs on each task */
	CHECK_TRAINING, /* every worker trains to its end */
	CHECK_RESULT, /* and what they have trained is good */
	CHECK_STEP_COUNT,
};
extern const char *const check_step_words[CHECK_STEP_COUNT]; /* "library" … */

enum check_state {
	CHECK_WAITING, /* not reached */
	CHECK_RUNNING,
	CHECK_PASSED,
	CHECK_FAILED,
	CHECK_SKIPPED, /* nobody asked for it */
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
	CHECK_ROLL_CALL_JOB, /* the probe once more, when training has come to nothing */
	CHECK_JOB_COUNT,
};

struct check_step_record {
	enum check_state state;
	msec started, ended; /* MSEC_UNSET: not yet */
};

/* One TensorFlow server. */
struct check_task {
	const char *name; /* "worker-0" */
	const char *target; /* "grpc://127.0.0.1:20001"; NULL: it does not serve yet */
	const char *version; /* of its TensorFlow; NULL: not told */
	double serving_seconds; /* from start to serving */
	const char **devices; /* "CPU:0" */
	size_t n_devices;
	bool has_devices; /* they were listed */
	bool has_run; /* an operation ran on it */
	bool has_answered; /* in the roll call */
	bool is_stopped; /* its process was found stopped (SIGSTOP) */
};

/* One process that trains. */
struct check_trainer {
	const char *name; /* "worker-0" */
	bool has_started, has_ended;
	bool is_stopped;
	int64_t step; /* global step that it told last */
	const char *error; /* why it failed, by its own word; NULL */
	bool is_data_error; /* … and that it is the data's fault */
};

struct check_job_record {
	const char *name;
	bool has_started, has_ended;
	int exit_code;
	const char *last_words; /* muster's own last line, "muster: …"; NULL */
	/* What failed in it first and not because muster ended it; NULL and 0: nothing. */
	const char *failure; /* "ps-1 was killed by signal 9 (SIGKILL) after 12s (attempt 0)" */
	const char *failed; /* "ps-1"; NULL: the job as a whole */
	const char *cause; /* the failed one's last word; NULL */
	bool could_not_start; /* the failed one's program is not there, or cannot be run */
	msec failed_at;
};

/* What kind of thing went wrong: decides the advice and the exit code. */
enum check_fault_kind {
	CHECK_FAULT_LIBRARY,
	CHECK_FAULT_DATA,
	CHECK_FAULT_NOT_STARTED,
	CHECK_FAULT_IMAGE, /* of a Pod: it has no server to start */
	CHECK_FAULT_SERVER_DIED, /* killed, or ended without a word */
	CHECK_FAULT_SERVER_FAILED, /* ended, and said why */
	CHECK_FAULT_SERVER_STOPPED,
	CHECK_FAULT_SILENT_SERVER,
	CHECK_FAULT_NAME,
	CHECK_FAULT_PORT,
	CHECK_FAULT_ANSWER,
	CHECK_FAULT_PROBE,
	CHECK_FAULT_TOO_FEW,
	CHECK_FAULT_TRAINER_DIED,
	CHECK_FAULT_TRAINER_STOPPED,
	CHECK_FAULT_SILENT_TRAINER,
	CHECK_FAULT_RESULT,
	CHECK_FAULT_INTERRUPTED,
	CHECK_FAULT_COUNT,
};

/* The first thing that went wrong. */
struct check_fault {
	enum check_fault_kind kind;
	enum check_step step;
	const char *task; /* "ps-1"; NULL: no task's */
	const char *message; /* "ps-1 cannot reach worker-0 (127.0.0.1:2222): connection refused" */
	const char *job; /* whose log tells more; NULL */
	bool is_of_task; /* it has a replica of the task's name */
	msec time;
};

struct check {
	struct check_request request; /* its texts are borrowed */
	struct arena *arena; /* of all texts below */
	enum check_result result;
	msec started, ended;
	int signal; /* that interrupted it */
	struct check_step_record steps[CHECK_STEP_COUNT];
	struct check_job_record jobs[CHECK_JOB_COUNT];
	const char *library; /* "TensorFlow 2.21.0, /…/libtensorflow_cc.so.2 …" */
	const char *files; /* of the data folder, in words */

	struct check_task *tasks;
	size_t n_tasks, tasks_capacity;
	struct check_network network;
	msec network_started, network_ended; /* first and last news of it */
	int n_workers; /* that train; known when training begins */
	struct check_trainer *trainers;
	size_t n_trainers;
	const char *data_name, *data_source; /* what the model trains on; NULL: not told */
	int64_t data_examples;
	int64_t step, steps_wanted; /* the greatest that was told, of how many */
	double loss; /* NAN: not told */
	size_t n_events; /* that were heard */
	struct json *figures; /* the model's "result" event; NULL */

	msec roll_called; /* when the roll call was asked for; MSEC_UNSET: it was not */
	struct check_fault *fault; /* NULL: none so far */
	/* The first that the probe could not do. */
	const char *probe_error_task, *probe_error_code, *probe_error;
	enum check_step probe_error_step;
};

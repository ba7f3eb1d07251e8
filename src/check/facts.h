/* The known facts of a check: its steps, jobs, servers and training processes, and the first error.
 * Only check/check* writes here; reports read. */
#pragma once

#include "base/instant.h"
#include "base/json.h"
#include "base/mem.h"
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

/* Limit of the servers of one role that a check may start, or train with. */
#define CHECK_SERVERS_MOST 50
/* Default number of workers that train. */
#define CHECK_WORKERS 2
/* Default time limit of a step: the limit of TensorFlow's own test of distributed MNIST
 * (tools/dist_test/scripts/dist_mnist_test.sh). */
#define CHECK_TIMEOUT "2m"

struct check_request {
	const char *name; /* "check-x1y2z": name of the servers' job, and prefix of the others */
	enum check_model model;
	int workers; /* for a remote check: 0 means the existing ones, at most CHECK_WORKERS */
	int ps;
	bool is_sync;
	bool is_setup_only; /* the servers stay, in the background */
	bool has_private_network; /* no other client can reach them */
	int64_t steps; /* 0: the model's default */
	const char *data_dir; /* NULL: the models have their own data */
	const char *libtensorflow; /* as given; NULL: search for it */
	const char *state_dir; /* as given; NULL: the default */
	msec timeout; /* of each step */

	bool is_remote; /* the servers already exist: */
	const struct check_server *servers;
	size_t n_servers;

	/* All jobs of the check are Pods of a cluster: the servers, unless they already exist, and
	 * their clients. `place` are the options of `muster run` that select the cluster and the
	 * kind of Pods; it ends with NULL. */
	bool is_on_kubernetes;
	const char *const *place;
};

/* Models with MultiWorkerMirroredStrategy and ParameterServerStrategy start servers inside their
 * own processes. */
bool check_model_brings_servers(enum check_model model);
/* Whether a model trains, so that the steps after the session are performed. */
bool check_request_trains(const struct check_request *request);

/* The role of the training processes ("worker", for ps2 "chief"), and their number. */
const char *check_trainer_role(enum check_model model);
int check_trainer_count(enum check_model model, int workers);

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

enum check_state {
	CHECK_WAITING, /* not reached */
	CHECK_RUNNING,
	CHECK_PASSED,
	CHECK_FAILED,
	CHECK_SKIPPED, /* not requested */
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
};

/* One TensorFlow server. */
struct check_task {
	const char *name; /* "worker-0" */
	const char *target; /* "grpc://127.0.0.1:20001"; NULL: it does not serve yet */
	const char *version; /* of its TensorFlow; NULL: unknown */
	double serving_seconds; /* from its start until it serves */
	const char **devices; /* "CPU:0" */
	size_t n_devices;
	bool has_devices; /* `devices` is valid */
	bool has_run; /* an operation ran on it */
	bool has_answered; /* to the roll call */
	bool is_stopped; /* its process was found paused (SIGSTOP) */
};

/* One training process. */
struct check_trainer {
	const char *name; /* "worker-0" */
	bool has_started, has_ended;
	bool is_stopped;
	int64_t step; /* last reported global step */
	const char *error; /* why it failed, in its own words; or NULL */
	bool is_data_error; /* … and the data are the cause */
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

/* The kind of error: determines the advice and the exit code. */
enum check_fault_kind {
	CHECK_FAULT_LIBRARY,
	CHECK_FAULT_DATA,
	CHECK_FAULT_NOT_STARTED,
	CHECK_FAULT_IMAGE, /* of a Pod: it contains no server program */
	CHECK_FAULT_SERVER_DIED, /* killed, or ended silently */
	CHECK_FAULT_SERVER_FAILED, /* ended with a message */
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

/* The first error. */
struct check_fault {
	enum check_fault_kind kind;
	enum check_step step;
	const char *task; /* "ps-1"; NULL: no task */
	const char *message; /* "ps-1 cannot reach worker-0 (127.0.0.1:2222): connection refused" */
	const char *job; /* the job whose log tells more; or NULL */
	bool is_of_task; /* the job has a replica of the task's name */
	instant time;
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
	const char *library; /* "TensorFlow 2.21.0, /…/libtensorflow_cc.so.2 …" */
	const char *files; /* of the data directory, in words */

	struct check_task *tasks;
	size_t n_tasks, tasks_capacity;
	struct check_network network;
	instant network_started, network_ended; /* times of the first and last event about it */
	int n_workers; /* number of training workers; known when training begins */
	struct check_trainer *trainers;
	size_t n_trainers;
	const char *data_name, *data_source; /* the model's training data; NULL: unknown */
	int64_t data_examples;
	int64_t step, steps_wanted; /* the highest reported step, and the total */
	double loss; /* NAN: unknown */
	size_t n_events; /* number of events received */
	struct json *figures; /* the model's "result" event; or NULL */

	instant roll_called; /* when the roll call was requested; INSTANT_UNSET: it was not */
	struct check_fault *fault; /* NULL: none so far */
	/* The probe's first error. */
	const char *probe_error_task, *probe_error_code, *probe_error;
	enum check_step probe_error_step;
};

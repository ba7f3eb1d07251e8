/* The first fault of a check: the cause of a failed step, in a sentence, and advice.
 *
 * Each check_diagnose function sets the check's fault. Those that return a bool first test whether
 * there is one. */
#pragma once

#include "check/facts.h"

/* The kind of fault: determines the advice and the exit code. */
enum check_fault_kind {
	CHECK_FAULT_LIBRARY,
	CHECK_FAULT_DATA,
	CHECK_FAULT_NOT_STARTED,
	CHECK_FAULT_IMAGE, /* of a Pod: it contains no server program */
	CHECK_FAULT_SERVER,
	CHECK_FAULT_STOPPED, /* a process is paused */
	CHECK_FAULT_SILENT_SERVER,
	CHECK_FAULT_NAME,
	CHECK_FAULT_PORT,
	CHECK_FAULT_ANSWER,
	CHECK_FAULT_PROBE,
	CHECK_FAULT_TOO_FEW,
	CHECK_FAULT_TRAINER,
	CHECK_FAULT_SILENT_TRAINER,
	CHECK_FAULT_RESULT,
	CHECK_FAULT_INTERRUPTED,
	CHECK_FAULT_COUNT,
};

struct check_fault {
	enum check_fault_kind kind;
	enum check_step step;
	const char *task; /* "ps-1"; NULL: no task */
	const char *message; /* "ps-1 cannot reach worker-0 (127.0.0.1:2222): connection refused" */
	const char *job; /* the job whose log tells more; or NULL */
	bool is_of_task; /* the job has a replica of the task's name */
	instant time;
};

/* Sets the fault, once. The job whose log tells more is the one that the step needs. */
void check_set_fault(struct check *check, enum check_fault_kind kind, enum check_step step,
		     const char *task, instant now, const char *format, ...) PRINTF_LIKE(6, 7);
const char *check_fault_word(const struct check *check); /* "ServerFailed" */
/* Advice about the fault: one or more sentences. */
const char *check_fault_advice(const struct check *check);
/* Something could not be found or reached; what was tested has not failed. */
bool check_fault_is_absence(const struct check *check);

/* The servers' job has ended although it was wanted. */
void check_diagnose_servers(struct check *check, enum check_step step, instant now);
bool check_diagnose_network(struct check *check, instant now);
/* The cluster has fewer workers than requested. */
bool check_diagnose_size(struct check *check, instant now);
void check_diagnose_probe(struct check *check, enum check_step step, instant now);
/* The step of the probe's first error; CHECK_STEP_COUNT: there is none. */
enum check_step check_probe_error_step(const struct check *check);
/* The model's job has ended before all its workers had trained. */
void check_diagnose_training(struct check *check, enum check_step step, instant now);
bool check_diagnose_result(struct check *check, instant now);
/* Returns false if the model has no bound for so few steps (a bound that is null). */
bool check_result_is_judged(const struct check *check);
/* The time of a step is over: names the tasks that did not answer. */
void check_diagnose_silence(struct check *check, enum check_step step, instant now);
/* The servers' job ended after a fault was found. A server that died before is its cause. */
void check_revise_fault(struct check *check);

/* The processes without the fact, for users: "ps-1", "ps-0 and ps-1", "worker-0, worker-1 and 6
 * more". Returns the first; NULL: all have it. */
const char *check_name_those_without(const struct json *processes, const char *fact,
				     struct text *text);

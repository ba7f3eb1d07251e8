/* The identity of a job's supervisor: its two processes, as stored in the record. */
#pragma once

#include "base/instant.h"
#include "base/json.h"
#include "io/process.h"

/* The two processes of io/guard.h, and the machine they run on. */
struct supervisor_id {
	char host[65]; /* as `uname -n` prints it */
	struct process_identity outer;
	struct process_identity inner;
};

/* How long the processes of a supervisor may take to exit when its job has finished or was deleted,
 * or one of them was killed: it may be in the middle of a reconcile pass, and must not meet the job
 * that the next supervisor resumes. */
#define SUPERVISOR_EXIT_LIMIT (10 * MSEC_PER_SECOND)

/* The state of a supervisor. */
enum supervisor_fate {
	SUPERVISOR_ALIVE,
	SUPERVISOR_ELSEWHERE, /* on another machine that shares this state directory: unknown */
	SUPERVISOR_UNSEEN, /* unknown without /proc */
	SUPERVISOR_KILLED, /* a process of it was killed: it supervises nothing */
	SUPERVISOR_REBOOTED, /* this machine was rebooted since */
	SUPERVISOR_ON_CLUSTER, /* on a cluster, whose Lease names it (jobs/cluster_job_record.h) */
	SUPERVISOR_NONE, /* the record has no supervisor */
};

/* The identity of the calling process (the inner one) and its parent (the outer one, unless it is
 * gone: `is_alone`), and their control group. Caller frees the text (JSON). */
int supervisor_id_write_own(bool is_alone, char **ret_text, struct err *err) MUST_USE;
/* Adds the calling process alone, for supervisor_id_read and supervisor_wait. */
void supervisor_id_add_own(struct json *object);
/* False if the text contains no identity. */
bool supervisor_id_read(const char *text, struct supervisor_id *ret_id);

/* The fate by the text of a record's `supervisor`. */
enum supervisor_fate supervisor_fate(const char *text);

/* Whether the named processes are alive on this machine, also if the job runs elsewhere. */
bool supervisor_is_alive(const char *text);
/* The pid of the inner process; 0: it is not alive, or not on this machine. */
pid_t supervisor_find(const char *text);

/* Kills all processes in the control group of both (io/own_group.h), if they had one. Both have
 * exited. */
void supervisor_end_group(const char *text);

/* Opens the processes that are alive on this machine: each descriptor can be read from when its
 * process has exited. Returns their number; the caller closes them. */
size_t supervisor_open(const char *text, int ret_fds[2]);

/* Waits until both processes have exited, and until the moment `until` at most. Returns immediately
 * if they are not alive on this machine; the caller does not wait for itself. */
void supervisor_wait(const char *text, instant until);

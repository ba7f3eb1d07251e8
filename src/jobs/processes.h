/* The processes of a job on this machine, found by their marks. */
#pragma once

#include "base/own.h"
#include "io/process.h"
#include "status/status.h"

#include <stddef.h>
#include <sys/types.h>

/* Marks in the environment of every process of a job, which all its descendants inherit. The
 * processes of a job are found by them, also after its supervisor was killed. */
#define ENVIRONMENT_JOB_MARK "MUSTER_JOB_UID" /* =UID */
#define ENVIRONMENT_ATTEMPT_MARK "MUSTER_ATTEMPT_ID" /* =UID/ROLE-INDEX.ATTEMPT */

/* Calls `fn` for each process with its attempt: "worker-0.2". */
void job_processes_each(const char *uid, void (*fn)(pid_t pid, const char *attempt, void *data),
			void *data);
/* Sends the signal to each process that has a handler for it: a shell, or a worker of a data
 * loader, would only be killed. Returns their number. */
size_t job_processes_signal(const char *uid, int number);
/* The text of an attempt. Caller frees. */
char *job_processes_attempt(const char *role, int index, int attempt) MUST_USE;

/* The resources used by a replica, with all its descendants. */
struct replica_usage {
	size_t n_processes; /* 0: no process is running, and nothing is used */
	struct process_usage used;
	msec printed_at; /* the last change of its log; MSEC_UNSET: none, or unknown */
};
/* The usage of each replica of the status, in its order; the caller frees it. */
struct replica_usage *job_processes_usage(const char *uid, const struct status *status) MUST_USE;

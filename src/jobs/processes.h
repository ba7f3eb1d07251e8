/* The processes of a job on this machine, found by their marks. */
#pragma once

#include "base/err.h"
#include "io/process.h"
#include "status/status.h"

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

/* The files into which the processes of a job write their stacks and their progress.
 *
 * ROLE-INDEX.ATTEMPT.stacks in the job's directory contains the last answer of a Python process
 * (status/stacks.h). A sitecustomize makes it write that. */

#define STACKS_FILE ".stacks"
/* The file of an attempt with this ending. Caller frees. */
char *job_attempt_file(const char *job_folder, const char *role, int index, int attempt,
		       const char *ending) MUST_USE;
/* The contents of such a file, for the caller to free; NULL if it cannot be read. */
char *stacks_file_text(const char *path) MUST_USE;

/* Writes the sitecustomize, and returns its directory, STATE/programs/stacks, for PYTHONPATH; the
 * caller frees it. ERR_IO or ERR_SPACE; ERR_INVALID for a path that PYTHONPATH cannot name. */
int stacks_hook_install(const char *state_folder, char **ret_folder, struct err *err) MUST_USE;

extern const char stacks_hook[]; /* python/muster_stacks/sitecustomize.py */
extern const size_t stacks_hook_size;

/* Reads the step that a training process has reached from the file that MUSTER_PROGRESS_FILE names:
 * a decimal number, optionally followed by white space. 0: the file does not exist, is no regular
 * file, or does not contain a number from 1 to LIMIT_STEP. */
int64_t progress_file_read(const char *path);

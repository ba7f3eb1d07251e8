/* The supervisor of a job: the identity of its supervisor's two processes, as kept in the store. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/process.h"

#include <stdbool.h>

/* The two processes of io/guard.h, and the machine they run on. */
struct supervisor_id {
	char host[65]; /* as `uname -n` says */
	struct process_identity outer;
	struct process_identity inner;
};

/* What became of a supervisor. */
enum supervisor_fate {
	SUPERVISOR_ALIVE,
	SUPERVISOR_ELSEWHERE, /* on another machine that shares this state folder: not ours to
				 judge */
	SUPERVISOR_UNSEEN, /* without /proc nobody can judge */
	SUPERVISOR_KILLED, /* one of its processes is gone, or on its way: it looks after nothing
			      any more */
	SUPERVISOR_REBOOTED, /* this machine was started anew since */
	SUPERVISOR_ON_CLUSTER, /* its job runs there, and its Lease names the supervisor
				  (jobs/cluster_job_record.h) */
	SUPERVISOR_NONE, /* the record names nobody */
};

/* Of the calling process (the inner one) and its parent (the outer one), and their control group.
 * Caller frees the text (JSON). */
int supervisor_id_write_own(char **ret_text, struct err *err) MUST_USE;
/* Adds to an object the identity of the calling process alone, for supervisor_id_read and
 * supervisor_wait. */
void supervisor_id_add_own(struct json *object);
/* False where the text holds no identity. */
bool supervisor_id_read(const char *text, struct supervisor_id *ret_id);

/* Judges by the text of a record's `supervisor`. */
enum supervisor_fate supervisor_fate(const char *text);

/* The processes that the text names live on this machine, also where the job runs elsewhere. */
bool supervisor_is_alive(const char *text);

/* Ends what both processes left in their control group (io/own_group.h), if they had one. They are
 * gone. */
void supervisor_end_group(const char *text);

/* Waits until both processes are gone, and at most until the moment `until`. Returns at once where
 * they do not live on this machine; the caller does not wait for itself. */
void supervisor_wait(const char *text, msec until);

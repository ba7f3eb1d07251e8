/* The local back end: replicas as processes of this machine. */
#pragma once

#include "base/err.h"
#include "io/loop.h"
#include "jobs/backend.h"
#include "logs/folder.h"
#include "spec/gpus.h"
#include "spec/job.h"
#include "spec/tf_cluster.h"
#include "status/status.h"
#include "store/store.h"

#include <sys/resource.h>

struct output_copies; /* logs/output_copies.h */

/* The standard input of one replica, in all its attempts; the others have none. */
struct replica_input {
	struct log_name name; /* its attempt is ignored */
	int fd; /* 0: none */
};

struct backend_local_settings {
	struct loop *loop;
	struct claims *claims; /* on ports and GPUs */
	struct store
		*store; /* of all jobs, for one that waits for others; NULL: it does not wait */
	const struct gpus *gpus; /* of this machine; NULL: none, processes see ours */
	const struct private_network *network; /* of the job; NULL: the machine's */
	/* Sets the position of the job's processes among those of other machines, if any. */
	void (*join_world)(struct tf_cluster *cluster, struct arena *arena, void *data);
	void *world_data; /* of join_world */
	const char *jobs_folder; /* the logs of a job are in jobs_folder/UID */
	const char *state_folder; /* with the hook for stacks of Python; NULL: none */
	struct unsaved_output
		*unsaved_output; /* takes output that logs cannot; NULL: such output is lost */
	struct output_copies *copies; /* of output; NULL: none */
	bool keeps_streams_apart; /* stdout and stderr have a log each */
	struct replica_input input;
	bool has_terminals; /* stdout and stderr of a process are a terminal, not a pipe … */
	int name_columns; /* … that is so much narrower than ours */
	int64_t rotate_at; /* size at which a log file is rotated */
	rlim_t descriptor_limit; /* soft limit of open files in replicas; 0: ours */
	backend_news_fn on_news;
	/* Called when output was added to a log of this job. May be NULL. */
	void (*on_output)(void *data);
	/* Called with a problem to report that needs no decision (disk full …). */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct backend *backend_local_new(const struct backend_local_settings *settings) MUST_USE;

/* Adds faults that only this back end finds: a role without a command; a program or working
 * directory that does not exist; more GPUs than the machine has; a private network for replicas on
 * other machines. */
int backend_local_check(const struct job *job, const struct gpus *gpus,
			struct faults *faults) MUST_USE;

/* Kills every descendant of this process immediately, and waits for the last one. */
void backend_local_kill_all(struct backend *backend);
/* Others have sent running processes this signal: a stop does not repeat it. */
void backend_local_note_signal(struct backend *backend, int number);
/* The error of a failed replica becomes that of this launcher: error_file_export. */
int backend_local_export_error(struct backend *backend, const struct failure *failure,
			       const char *to, struct err *err) MUST_USE;

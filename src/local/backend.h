/* The local back end: replicas as processes of this machine. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "jobs/backend.h"
#include "logs/name.h"
#include "spec/gpus.h"
#include "spec/job.h"
#include "spec/tf_cluster.h"
#include "store/claims.h"

#include <sys/resource.h>

struct output_copies; /* logs/output_copies.h */

/* What one replica reads as its standard input, in all its attempts; the others read nothing. */
struct replica_input {
	struct log_name name; /* its attempt does not count */
	int fd; /* 0: there is none */
};

struct backend_local_settings {
	struct loop *loop;
	struct claims *claims; /* on ports and GPUs */
	const struct gpus *gpus; /* of this machine; NULL: none, and processes see what we see */
	const struct private_network *network; /* of the job; NULL: that of everybody */
	/* Says where the job's processes stand among those of other machines. NULL: there are none.
	 */
	void (*join_world)(struct tf_cluster *cluster, struct arena *arena, void *data);
	void *world_data; /* of join_world */
	const char *jobs_folder; /* logs of a job lie in jobs_folder/UID */
	const char *state_folder; /* with what lets Python processes show their stacks; NULL: they
				     do not */
	struct unsaved_output
		*unsaved_output; /* takes output that logs cannot; NULL: nothing does */
	struct output_copies *copies; /* of output; NULL: none */
	struct replica_input input;
	int64_t rotate_at; /* size at which a log file is rotated */
	rlim_t descriptor_limit; /* soft limit of replicas on open files; 0: ours */
	backend_news_fn on_news;
	/* Output was added to a log of this job: the console reads on. May be NULL. */
	void (*on_output)(void *data);
	/* A sentence about something that needs telling but no decision (disk full …). May be NULL.
	 */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

int backend_local_new(const struct backend_local_settings *settings, struct backend **ret_backend,
		      struct err *err) MUST_USE;

/* Faults that only this back end finds: a role without a command; a program or working folder that
 * does not exist; more GPUs than there are; a private network with others in it. */
int backend_local_check(const struct job *job, const struct gpus *gpus,
			struct faults *faults) MUST_USE;

/* Kills at once every descendant of this process, and waits for the last one. */
void backend_local_kill_all(struct backend *backend);

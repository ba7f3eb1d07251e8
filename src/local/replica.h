/* The attempts of a job's replicas on this machine, from their start until they are removed. Used
 * by the files of the local back end alone. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"
#include "io/child.h"
#include "io/loop.h"
#include "jobs/stacks_asker.h"
#include "local/replica_output.h"
#include "reconcile/plan.h"

#include <sys/queue.h>
#include <sys/types.h>

enum local_stage {
	LOCAL_RUNNING,
	LOCAL_LEFT, /* the process has exited; descendants of it may still be dying, or saving */
	LOCAL_ENDED, /* no process of it is left */
};

struct local_replica {
	TAILQ_ENTRY(local_replica) link;
	/* As its next observation has it; the texts are its own, except for the reason. */
	struct observed_replica seen;
	char *mark; /* the attempt's entry in its environment */
	enum local_stage stage;
	struct child_exit child_exit; /* from LOCAL_LEFT on; of no process if it did not start */
	msec left_at; /* likewise */
	bool was_searched; /* for its framework */
	int held_signal; /* to be sent when its stacks are kept; 0: none */
	int had_signal; /* that others have sent it already; 0: none */
	bool is_asked; /* for its stacks */
	char *stop_file; /* is created when it is asked to exit */
	int stopped_by; /* the signal that has stopped its process (SIGSTOP); 0: it is running */
	bool has_escapees; /* set by the last check of our children */
	struct replica_output *output; /* NULL once it has exited */
	struct replica_output *error_output; /* of a separate stderr; NULL: there is none */
};

struct local_replica *local_replica_new(const char *uid, const char *role, int index, int attempt,
					msec now) MUST_USE;

/* The logs of an attempt's output. */
struct replica_logs {
	struct log_writer *log; /* NULL: what belongs into it is lost */
	const struct terminal_size *terminal; /* what is logged is written to such a terminal; NULL:
						 to a pipe */
	bool keeps_streams_apart;
	struct log_writer *error_log; /* of stderr, if streams are kept apart; NULL: as above */
};

/* Starts its process, whose output goes into the logs, which are taken over. */
int local_replica_start(struct local_replica *replica, struct child_start *start,
			struct output_reader *reader, const struct replica_logs *take_logs,
			struct err *err) MUST_USE;
/* It could not be started: its exit code is that of a shell, 127 or 126. */
void local_replica_fail_start(struct local_replica *replica, const struct err *err, msec now);
/* local_replica_stop asks it to exit, without sending the signal yet. local_replica_send_held then
 * creates its stop file and sends the signal. A stopped process is continued for it. */
void local_replica_stop(struct local_replica *replica, msec now, msec grace, int signal_number);
void local_replica_send_held(struct local_replica *replica);
void local_replica_kill(struct local_replica *replica, msec now);

/* All of them. */
struct local_replicas {
	TAILQ_HEAD(, local_replica) list; /* in the order in which they were added */
	size_t count;
	bool is_unclear; /* set by the last check of our children */
	int64_t oom_kills; /* how many OOM kills of the kernel's count are already attributed */
};

void local_replicas_done(struct local_replicas *replicas);
void local_replicas_add(struct local_replicas *replicas, struct local_replica *take_replica);
/* Removes an attempt that has exited; others stay. */
void local_replicas_remove(struct local_replicas *replicas, struct local_replica *replica);

/* NULL when there is none. */
struct local_replica *local_replicas_find(const struct local_replicas *replicas, const char *role,
					  int index, int attempt);
/* The running attempt with this process; NULL if it belongs to none. */
struct local_replica *local_replicas_find_process(const struct local_replicas *replicas, pid_t pid);

/* A process that the stop signal has ended, as a shell or a launcher, did nothing about it, but
 * those of its group that it has started may: they have the rest of the grace period. `data` are
 * all replicas. */
bool local_replicas_spare_group(const struct child_exit *child_exit, const void *data);
/* A child has exited, `data` are all replicas: its replica, if any, leaves. */
void local_replicas_handle_exit(const struct child_exit *child_exit, void *data);

/* When the next grace period ends; MSEC_NEVER when none does. */
msec local_replicas_next_kill(const struct local_replicas *replicas);
void local_replicas_kill_overdue(struct local_replicas *replicas, msec now);
void local_replicas_kill_all(struct local_replicas *replicas, msec now);

/* The result of checking attempts whose process has exited. */
enum local_check {
	LOCAL_CHECK_NONE, /* there are none */
	LOCAL_CHECK_DONE, /* some ended; a process that still dies will be reported */
	LOCAL_CHECK_UNCLEAR, /* a process cannot be assigned at this moment: check again soon */
};

/* Ends the attempts whose process has exited and that have no other living process. Living ones are
 * killed; call this again when a child has exited. `has_children`: this process has any. */
enum local_check local_replicas_end_left(struct local_replicas *replicas,
					 bool has_children) MUST_USE;

void local_replicas_move_times(struct local_replicas *replicas, msec step);
void local_replicas_observe(const struct local_replicas *replicas, struct arena *arena,
			    struct observed *observed);

/* Keeps the stacks of replicas that are asked to exit, before the signal is sent. */

struct local_stacks {
	struct loop *loop;
	struct local_replicas *replicas; /* all of the back end */
	char *hook; /* for PYTHONPATH; NULL: processes cannot write stacks */
	/* Set by the caller. */
	char *job_folder; /* taken over */
	const char *uid; /* of the job */
	void (*on_kept)(void *data); /* local_stacks_summarize has a new result */
	void *data;

	bool is_due; /* some requests are due, in the next iteration of the loop */
	struct stacks_asker *asker; /* NULL: no request is in progress */
	struct stacks answers; /* so far */
	struct arena *arena; /* of these; NULL: nothing was requested yet */
};

/* Installs the hook in the state directory; NULL: no hook. */
void local_stacks_init(struct local_stacks *stacks, struct local_replicas *replicas,
		       const char *state_folder, struct loop *loop);
void local_stacks_done(struct local_stacks *stacks);

/* There are replicas whose signal is held back (local_replica_stop): their stacks are requested
 * soon, all at the same time, and the signal is sent when they have answered. */
void local_stacks_ask(struct local_stacks *stacks);

/* The stacks so far, as last_stacks of struct backend_functions. */
int local_stacks_summarize(const struct local_stacks *stacks, struct arena *arena,
			   const char ***ret_lines, size_t *ret_count, struct err *err) MUST_USE;

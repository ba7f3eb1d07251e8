/* One attempt of a replica on this machine: a process, its descendants and its output. Used by the
 * files of the local back end alone. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/child.h"
#include "local/replica_output.h"
#include "reconcile/observed.h"

#include <stdbool.h>
#include <sys/types.h>

enum local_stage {
	LOCAL_RUNNING,
	LOCAL_LEFT, /* the process has exited; descendants of it may still be dying */
	LOCAL_ENDED, /* no process of it is left */
};

struct local_replica {
	char *role;
	int index;
	int attempt;
	char *mark; /* the attempt's entry in its environment */
	enum local_stage stage;
	pid_t pid; /* 0: it could not be started */
	struct child_exit child_exit; /* from LOCAL_LEFT on */
	const char *reason; /* "OOMKilled", "StartFailed", or NULL */
	char *message;
	msec started_at;
	msec ended_at;
	msec stop_asked_at;
	msec kill_at;
	bool has_tensorflow; /* as in struct observed_replica … */
	bool was_searched; /* … if it was looked for */
	int held_signal; /* to be sent when its stacks are kept; 0: none */
	int had_signal; /* that others have sent it already; 0: none */
	bool is_asked; /* for its stacks */
	bool is_killed;
	char *stop_file; /* is created when it is asked to exit */
	int stopped_by; /* the signal that has stopped its process (SIGSTOP); 0: it is running */
	bool has_escapees; /* set by the last check of our children */
	char *log; /* path, or NULL */
	char *gpus; /* "0,1", "none"; NULL: none are assigned to it */
	struct replica_output *output; /* NULL once it has exited */
	struct replica_output *error_output; /* of a separate stderr; NULL: there is none */
};

struct local_replica *local_replica_new(const char *uid, const char *role, int index, int attempt,
					msec now) MUST_USE;
/* Closes its descriptors and frees it; the process, if there is one, is the caller's. */
void local_replica_free(struct local_replica *replica);

/* The logs of an attempt's output. */
struct replica_logs {
	struct log_writer *log; /* NULL: what belongs into it is lost */
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
 * creates its stop file and sends the signal. A stopped process is continued, so that it gets the
 * signal. */
void local_replica_stop(struct local_replica *replica, msec now, msec grace, int signal_number);
void local_replica_send_held(struct local_replica *replica);
void local_replica_kill(struct local_replica *replica, msec now);
/* Whether it was asked to exit, and is still running. */
bool local_replica_awaits_kill(const struct local_replica *replica);
/* Its process has exited, and was reaped. */
void local_replica_leave(struct local_replica *replica, const struct child_exit *child_exit,
			 msec now);
/* No process of it is left: reads its last output, and closes its log. */
void local_replica_end(struct local_replica *replica);

/* The wall clock was set by `step`: its times move with it. */
void local_replica_move_times(struct local_replica *replica, msec step);

void local_replica_observe(struct local_replica *replica, msec now, struct arena *arena,
			   struct observed_replica *ret_observed);

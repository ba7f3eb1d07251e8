/* The socket of one job's supervisor: clients wake it and learn of changes through it.
 *
 * A small protocol of lines over a Unix stream socket, STATE/jobs/UID/socket. Client: `wake` (read
 * the store again) or `watch`. Supervisor, to clients that watch: `changed VERSION`, immediately
 * with the present version and then after every change. Clients that watch beyond 64 are
 * disconnected, and read the store from time to time. Only this user (and root) may connect. The
 * socket carries no facts: those are in the store, so a lost message loses nothing. */
#pragma once

#include "base/err.h"
#include "io/loop.h"

#include <sys/types.h>

/* The supervisor's side. */
struct control;

/* Listens in the job's directory, which must exist. `on_wake` is called from the loop. */
int control_new(struct loop *loop, const char *job_folder, loop_fn on_wake, void *data,
		struct control **ret_control, struct err *err) MUST_USE;
/* Removes the socket that a killed supervisor left. No process may listen on it. */
void control_remove_left(const char *job_folder);
/* Removes the socket, so that another supervisor can create its own. All connections stay. */
void control_close(struct control *control);
/* Closes all connections and removes the socket, unless control_close has; NULL is fine. */
void control_free(struct control *control);
/* Sends a new version to all clients that watch. One that does not read is dropped. */
void control_send_version(struct control *control, int64_t version);

/* The client's side. `supervisor` is the pid of the job's recorded supervisor: another process that
 * listens on the socket is not believed. */
/* Wakes it, by SIGCONT if it does not listen. */
void control_wake(const char *job_folder, pid_t supervisor);
/* Starts to watch; the caller closes the descriptor. ERR_UNREACHABLE: it does not listen. */
int control_watch(const char *job_folder, pid_t supervisor, int *ret_fd) MUST_USE;
/* Waits for the next `changed`, and until the moment `until` at most (INSTANT_NEVER: no limit).
 * Returns 1 and the version; 0 after the timeout; ERR_UNREACHABLE when the supervisor has closed
 * the connection. */
int control_next_version(int watch_fd, instant until, int64_t *ret_version,
			 struct err *err) MUST_USE;

/* The socket of one job's supervisor: clients wake it and hear of changes through it.
 *
 * A tiny protocol of lines over a Unix stream socket, STATE/jobs/UID/socket. Client: `wake` (look
 * at the store again) or `watch`. Supervisor, to clients that watch: `changed VERSION`, first at
 * once with the present version and then after every change. Only this user (and root) is heard.
 * The socket carries no facts: those are in the store, so a lost message loses nothing. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdint.h>

/* The supervisor's side. */
struct control;

/* Listens in the job's folder, which must be there. `on_wake` is called from the loop. */
int control_new(struct loop *loop, const char *job_folder, loop_fn on_wake, void *data,
		struct control **ret_control, struct err *err) MUST_USE;
/* Removes the socket that a supervisor left when it was killed. Nobody may listen there. */
void control_remove_left(const char *job_folder);
/* Removes the socket, so that another supervisor can have one in its place. All connections
 * stay. */
void control_close(struct control *control);
/* Closes all connections and removes the socket, unless that was done; NULL is fine. */
void control_free(struct control *control);
/* Tells all clients that watch of a new version. One that does not read is dropped, never waited
 * for. */
void control_send_version(struct control *control, int64_t version);

/* The client's side. ERR_UNREACHABLE: nobody listens there. */
int control_wake(const char *job_folder, struct err *err) MUST_USE;
/* Begins to watch; the caller closes the descriptor. */
int control_watch(const char *job_folder, int *ret_fd, struct err *err) MUST_USE;
/* Waits for the next `changed` and at most until the moment `until` (MSEC_NEVER: no end). Gives 1
 * and the version; 0 when the time is over; ERR_UNREACHABLE when the supervisor hung up. */
int control_next_version(int watch_fd, msec until, int64_t *ret_version, struct err *err) MUST_USE;

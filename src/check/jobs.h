/* The jobs of a check as child processes: started when check/check wants them, read while they run,
 * ended when they are no longer wanted.
 *
 * A job is a foreground `muster run`, which stops its replicas when it is stopped. Servers that
 * stay (--setup-only) are a `muster run -d`, and then a `muster logs -f` reports their output. */
#pragma once

#include "base/err.h"
#include "base/instant.h"
#include "check/check.h"
#include "io/loop.h"

struct check_jobs;
/* The check gets all events, and `on_news` tells that it got one. `state_folder`, as
 * $XDG_STATE_HOME/muster, is borrowed. */
int check_jobs_new(struct loop *loop, const char *state_folder, struct check *check,
		   loop_fn on_news, void *data, struct check_jobs **ret_jobs,
		   struct err *err) MUST_USE;
/* Kills all running children. NULL is fine. */
void check_jobs_free(struct check_jobs *jobs);

/* Starts the wanted jobs and asks the others to end. */
void check_jobs_serve(struct check_jobs *jobs);
/* Kills the children that were asked to end and whose time has passed. Returns when to call this
 * again (INSTANT_NEVER: no need). */
instant check_jobs_escalate_signal(struct check_jobs *jobs, instant now);
/* Reaps the children that have ended (SIGCHLD). */
void check_jobs_reap(struct check_jobs *jobs);
void check_jobs_kill(struct check_jobs *jobs);
/* For a user who does not want to wait: kills replicas on this machine. Pods only lose their grace
 * period, because killing the process that deletes them would leave them behind. */
void check_jobs_speed_up(struct check_jobs *jobs);
/* Reports to the check which replicas have a paused process. */
void check_jobs_find_stopped(struct check_jobs *jobs);
/* Deletes the records of jobs that are no longer wanted, with their logs. */
void check_jobs_delete(struct check_jobs *jobs);

/* The models that a check trains: a Python zip inside the program, made by the build. */
extern const unsigned char check_models_bytes[];
extern const size_t check_models_size;
extern const char check_models_hash[]; /* of its bytes, 16 hexadecimal digits */

/* Returns the path of the zip, STATE/programs/check-HASH.pyz, which Python can run directly; the
 * caller frees it. It is written unless a file with exactly these bytes exists; a running check of
 * an older muster keeps its own file. Another muster may do so at the same time: the file appears
 * atomically. Returns ERR_IO or ERR_SPACE. */
int check_models_install(const char *state_folder, char **ret_path, struct err *err) MUST_USE;

/* The jobs of a check as children of this process: started when check/check wants them, read while
 * they run, ended when they are wanted no more.
 *
 * A job is a `muster run` in the foreground, which ends its replicas when it is ended. Servers that
 * are to stay (--setup-only) are a `muster run -d`, and then a `muster logs -f` tells what they
 * print. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "check/facts.h"
#include "io/loop.h"

struct check_jobs_settings {
	struct loop *loop;
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	struct check *check; /* is told of everything */
	loop_fn on_news; /* the check was told something */
	void *data;
};

struct check_jobs;
int check_jobs_new(const struct check_jobs_settings *settings, struct check_jobs **ret_jobs,
		   struct err *err) MUST_USE;
/* Kills what still runs; NULL is fine. */
void check_jobs_free(struct check_jobs *jobs);

/* Starts what is wanted and asks the rest to end. */
void check_jobs_serve(struct check_jobs *jobs);
/* Kills those that were asked to end and should be gone by now. Gives the moment to call this again
 * (MSEC_NEVER: none). */
msec check_jobs_escalate_signal(struct check_jobs *jobs, msec now);
/* Takes the children that have ended (SIGCHLD). */
void check_jobs_reap(struct check_jobs *jobs);
void check_jobs_kill(struct check_jobs *jobs);
/* Somebody does not want to wait: replicas here are killed; Pods get no time to save, because to
 * kill of the process that ends them would leave them behind. */
void check_jobs_speed_up(struct check_jobs *jobs);
/* Tells the check which replicas have a process that is stopped. */
void check_jobs_find_stopped(struct check_jobs *jobs);
/* Forgets the jobs that are wanted no more, with their logs. */
void check_jobs_delete(struct check_jobs *jobs);

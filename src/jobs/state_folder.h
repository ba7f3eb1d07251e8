/* The paths in the state directory, which contains the records of jobs:
 *
 *     STATE/muster.db          the store
 *     STATE/jobs/UID/          one job: ROLE-INDEX.ATTEMPT.log and .index, muster.log, socket, and
 *                              a link `start` to the directory in which it was started, and
 *                              while it is running `reserve`, disk space to record its end
 *     STATE/programs/          programs of ours for Python to run
 *     STATE/elastic/PORT/      the store of an orchestrator of elastic jobs on that port */
#pragma once

#include "base/err.h"

/* $XDG_STATE_HOME/muster, else ~/.local/state/muster (XDG Base Directory Specification 0.8; a
 * relative XDG_STATE_HOME is ignored, as it demands). The home directory is $HOME or that of the
 * password database. Without one that can be written, as in many a container: muster-UID in
 * $TMPDIR, else in /tmp, and *ret_why is a sentence on that; else NULL. Caller frees both. */
char *state_folder_default(char **ret_why) MUST_USE;

/* Paths; the caller frees them. */
char *state_folder_jobs(const char *state_folder) MUST_USE;
char *state_folder_programs(const char *state_folder) MUST_USE;
char *state_folder_elastic(const char *state_folder, int port) MUST_USE;
char *state_folder_job(const char *state_folder, const char *uid) MUST_USE;

/* Creates the directory of one job, for this user alone. */
int state_folder_create_job(const char *state_folder, const char *uid, struct err *err) MUST_USE;
/* Records the working directory in the directory of a job. */
void state_folder_keep_start(const char *job_folder);
/* Caller frees. NULL: none was recorded. */
char *state_folder_start(const char *job_folder) MUST_USE;
/* Changes to the recorded working directory. ERR_IO names it and the job. */
int state_folder_return_to_start(const char *job_folder, const char *job_name,
				 struct err *err) MUST_USE;
/* Reserves some disk space, if available, while a job runs; and releases it, so that the end of the
 * job can be written on a full disk. */
void state_folder_reserve(const char *job_folder);
void state_folder_give_back(const char *job_folder);
/* Removes the directory of one job with all logs; a missing one is fine. Rejects a text that is no
 * uid of ours, so that nothing else can ever be removed. */
int state_folder_remove_job(const char *state_folder, const char *uid, struct err *err) MUST_USE;

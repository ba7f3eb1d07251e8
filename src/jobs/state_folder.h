/* What lies where in the folder that remembers jobs:
 *
 *     STATE/muster.db          the store
 *     STATE/jobs/UID/          one job: ROLE-INDEX.ATTEMPT.log and .index, muster.log, socket, and
 *                              a link `start` to the folder in which it was started, and
 *                              while it runs `reserve`, room for how it ends
 *     STATE/programs/          programs of ours for Python to run
 *     STATE/elastic/PORT/      the store of an orchestrator of elastic jobs that listens there */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* $XDG_STATE_HOME/muster, else ~/.local/state/muster (XDG Base Directory Specification 0.8; a
 * relative XDG_STATE_HOME is ignored, as it demands). The home is $HOME or the one of the password
 * database. ERR_NOT_FOUND when there is none. Caller frees. */
int state_folder_default(char **ret_folder, struct err *err) MUST_USE;

/* Paths; the caller frees them. */
char *state_folder_jobs(const char *state_folder) MUST_USE;
char *state_folder_programs(const char *state_folder) MUST_USE;
char *state_folder_elastic(const char *state_folder, int port) MUST_USE;
char *state_folder_job(const char *state_folder, const char *uid) MUST_USE;

/* Makes the folder of one job, for this user alone. */
int state_folder_create_job(const char *state_folder, const char *uid, struct err *err) MUST_USE;
/* Keeps, in the folder of a job, which folder we are in. */
void state_folder_keep_start(const char *job_folder);
/* Goes to the folder that was kept. ERR_IO names it and the job when that is not possible. */
int state_folder_return_to_start(const char *job_folder, const char *job_name,
				 struct err *err) MUST_USE;
/* Keeps some room on the disk for how the job ends, as long as it runs, where that can be had; and
 * gives it back, so that the end can be written on a disk that is full. */
void state_folder_reserve(const char *job_folder);
void state_folder_give_back(const char *job_folder);
/* Removes the folder of one job with all logs; one that is gone already is fine. A text that is no
 * uid of ours is refused, so that nothing else can ever be removed. */
int state_folder_remove_job(const char *state_folder, const char *uid, struct err *err) MUST_USE;

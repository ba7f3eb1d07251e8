/* The jobs of this machine that are remembered already. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "jobs/client.h"

/* Where jobs are remembered: --state-dir, else the folder of jobs/state_folder.h. Caller frees.
 * ERR_NOT_FOUND when there is no home. */
int local_jobs_folder(const struct options *options, char **ret_folder, struct err *err) MUST_USE;

/* The client for them, in this folder or that of the call (NULL). ERR_NOT_FOUND: there is no such
 * folder, and none is created. */
int local_jobs_open(const struct options *options, const char *folder,
		    struct client **ret_client) MUST_USE;
void local_jobs_close(struct client **client); /* CLEANUP */

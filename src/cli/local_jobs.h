/* The recorded jobs of this machine, and names for new jobs. */
#pragma once

#include "base/err.h"
#include "command/options.h"
#include "jobs/client.h"

/* The directory of the records: --state-dir, else that of jobs/state_folder.h. A message says once
 * when that is not the usual one. Caller frees. */
char *local_jobs_folder(const struct options *options) MUST_USE;

/* A client for the jobs of this machine alone, freed by local_jobs_close. */
int local_jobs_open(const struct options *options, struct client **ret_client,
		    struct err *err) MUST_USE;
/* The same in this directory, or that of the options (NULL). ERR_NOT_FOUND: the directory does not
 * exist; it is not created. */
int local_jobs_open_existing(const struct options *options, const char *folder,
			     struct client **ret_client) MUST_USE;
void local_jobs_close(struct client **client);

/* Creates a new directory of that name and random characters in $TMPDIR or /tmp. Caller frees. */
int temporary_folder_create(const char *name, char **ret_path, struct err *err) MUST_USE;

/* "digits-x7k2p" from "digits.py": a DNS-1035 label of the word without its ending, short enough
 * for the names of its replicas (PROGRAM-evaluator-0, at most 63 characters), and five random
 * characters as Kubernetes' generateName adds them (k8s.io/apiserver/pkg/storage/names: no vowels,
 * no 0, 1, 3). The name is checked against the jobs of this machine: with 6,000 recorded jobs, one
 * random name in 2,000 is taken. Caller frees. */
char *job_name_choose(const struct options *options, const char *word) MUST_USE;
/* The same from the id of an elastic job, whose name is never that of an object on a cluster: a
 * digit may be the first character, and a dot ends nothing. `place` is that of a task of Slurm, as
 * no other has it, instead of random characters; NULL: none. Caller frees. */
char *job_name_choose_of_id(const struct options *options, const char *id,
			    const char *place) MUST_USE;
/* The prefix and five random characters, as generateName makes them. Caller frees. */
char *job_name_generate(const char *beginning) MUST_USE;
/* Whether it can have made this name, with or without a dash after the beginning. */
bool job_name_is_generated(const char *name, const char *beginning);

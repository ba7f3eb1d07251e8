/* Checks the objects of a job on a cluster: each is sent as it would be created, the server
 * validates it as strictly as it can (dryRun=All, fieldValidation=Strict), and nothing is
 * created. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "kube/api.h"
#include "spec/job.h"
#include "spec/job_files.h"

/* Adds a line for each fault; one fault of many objects gives one line. Returns 0 also when there
 * are faults. Errors mean that the check was not possible: ERR_UNREACHABLE, or those of
 * objects_add_all. */
int server_dry_run(struct kube_api *api, const struct job *job, const struct job_file *files,
		   size_t n_files, const struct job_secret *secret, struct text *faults,
		   struct err *err) MUST_USE;

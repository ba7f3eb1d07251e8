/* What a cluster would say to the objects of a job: each is sent as it would be made, checked by
 * the server as strictly as it can (dryRun=All, fieldValidation=Strict), and nothing is made. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "io/loop.h"
#include "kube/api.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/job_secret.h"

/* Adds a line for each fault; what is said of many objects is said once. 0 also when there are
 * some. Errors say that the question could not be asked: ERR_UNREACHABLE, or those of
 * objects_add_all. */
int server_dry_run(struct loop *loop, struct kube_api *api, const struct job *job,
		   const struct job_file *files, size_t n_files, const struct job_secret *secret,
		   struct text *faults, struct err *err) MUST_USE;

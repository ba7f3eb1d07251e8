/* Creates objects on a cluster, or only has them checked: those of a job's files, and a TFJob
 * object for an operator. cluster/supervision.h creates the owner of any other job. */
#pragma once

#include "base/text.h"
#include "kube/api.h"
#include "spec/job.h"
#include "spec/job_files.h"

/* Creates the ConfigMaps of the job's files, before any Pod. Waits for the calls (kube/wait.h). */
int registration_kube_create_files(struct kube_api *api, const struct job *job,
				   const struct job_file *files, size_t n_files,
				   struct err *err) MUST_USE;

/* A TFJob for an operator to manage, and the objects of its files and variables, which it owns. */
struct tfjob_submission {
	struct kube_api *api; /* its loop is not running */
	struct job *job; /* in its namespace; gets its uid */
	const char *job_words; /* spec/job.h, for hints */
	const struct job_file *files;
	size_t n_files;
	const struct job_secret *secret;
	bool replaces_finished; /* a finished TFJob of this name is deleted first */
};

/* Creates the TFJob first, since it owns the rest: its Pods wait for what they mount. Waits for the
 * calls. After an error all created objects are deleted, as far as the cluster responds.
 * ERR_EXISTS, ERR_REFUSED (permissions), ERR_NOT_FOUND if the cluster knows no TFJobs. */
int tfjob_submit(const struct tfjob_submission *submission, struct err *err) MUST_USE;

/* Checks the objects of a job: each is sent as it would be created, the server validates it as
 * strictly as it can (dryRun=All, fieldValidation=Strict), and nothing is created. Adds a line for
 * each fault; one fault of many objects gives one line. Returns 0 also when there are faults.
 * Errors mean that the check was not possible: ERR_UNREACHABLE, or those of objects_add_all. */
int server_dry_run(struct kube_api *api, const struct job *job, const struct job_file *files,
		   size_t n_files, const struct job_secret *secret, struct text *faults,
		   struct err *err) MUST_USE;

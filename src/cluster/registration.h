/* Creates a job on a cluster: its owner, which records it or is a TFJob object for an operator, and
 * the objects that its Pods mount. */
#pragma once

#include "base/text.h"
#include "kube/api.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "store/store.h"

/* Checks that the login may create and watch the objects of a job. Errors as kube_rights_check. */
int registration_kube_check_before_attach(struct kube_api *api, const char *namespace_name,
					  struct err *err) MUST_USE;

/* Checks that the login may create and watch the NetworkPolicy of a job, if it has one. */
int registration_kube_check_network_policy(struct kube_api *api, const struct job *job,
					   struct err *err) MUST_USE;

/* The checks before a job is created. With `makes_secret` also the permission to create a Secret,
 * and if directories are fetched from Pods, the permission to run commands in Pods. ERR_EXISTS if
 * another Service has the job's name and is not of an earlier job that is being deleted: Pods get
 * their DNS names from a Service of that name. All calls run in one wait. */
int registration_kube_check_before_run(struct kube_api *api, const struct job *job,
				       bool makes_secret, struct err *err) MUST_USE;

/* Records the job, which gets the uid of its owner. ERR_EXISTS when the name is taken; with
 * `replaces_finished` only by a job that has not finished. `observed` as for reconciler_create_job:
 * any supervisor may start the job's Pods immediately, also if this process is killed. */
int registration_kube_register(struct store *store, struct job *job, const char *job_words,
			       bool replaces_finished, const struct observed *observed, msec now,
			       struct err *err) MUST_USE;

/* Finds an existing job by its record. *ret_has_started: a supervisor has acted for it, so the
 * objects that its Pods mount exist. The caller frees the job. ERR_NOT_FOUND. */
int registration_kube_find(struct store *store, const char *name, struct job **ret_job,
			   msec *ret_created, bool *ret_has_started, struct err *err) MUST_USE;

/* Creates the Secret of the job's variables, if it has one, before any Pod. Waits for the call. */
int registration_kube_create_secret(struct kube_api *api, const struct job *job,
				    const struct job_secret *secret, struct err *err) MUST_USE;

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

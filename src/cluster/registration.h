/* A job takes its place on a cluster: its owner is made, and what its Pods mount. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "reconcile/observed.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/job_secret.h"
#include "store/store.h"

#include <stdbool.h>

/* Asks the cluster whether the login may make and watch what a job is made of. Errors as
 * kube_rights_check. */
int registration_kube_check_before_attach(struct loop *loop, struct kube_api *api,
					  const char *namespace_name, struct err *err) MUST_USE;

/* And of a job that is there, whether it may make and watch its NetworkPolicy, if it has one. */
int registration_kube_check_network_policy(struct loop *loop, struct kube_api *api,
					   const struct job *job, struct err *err) MUST_USE;

/* The same before a job is made; with `makes_secret` whether it may make a Secret too, and whether
 * it may run commands in Pods where folders are fetched from them. Then ERR_EXISTS where another's
 * Service has the job's name, and is no part of an earlier job that is about to go: the names of
 * its Pods are those of a Service of that name, so no Pod would find another. One wait. */
int registration_kube_check_before_run(struct loop *loop, struct kube_api *api,
				       const struct job *job, bool makes_secret,
				       struct err *err) MUST_USE;

/* Records the job, which gets the uid of its owner. ERR_EXISTS when the name is taken; with
 * `replaces_finished` only by a job that has not ended. `observed` as of reconciler_create_job: its
 * Pods may be started at once, also by others, should we be no more. */
int registration_kube_register(struct store *store, struct job *job, const char *job_words,
			       bool replaces_finished, const struct observed *observed, msec now,
			       struct err *err) MUST_USE;

/* A job that was made before, as it stands in its record. *ret_has_started: somebody has acted for
 * it, so all that its Pods mount is there; *ret_is_untouched: it was applied as `render` shows it
 * (record_is_untouched). The caller frees the job. ERR_NOT_FOUND. */
int registration_kube_find(struct store *store, const char *name, struct job **ret_job,
			   msec *ret_created, bool *ret_has_started, bool *ret_is_untouched,
			   struct err *err) MUST_USE;
/* Makes the ConfigMap of such a job the owner of its other objects. *ret_refusal, for the caller to
 * free: what could not be looked at, and may stay without an owner; NULL where all was seen. Waited
 * for as well. */
int registration_kube_adopt(struct loop *loop, struct kube_api *api, const struct job *job,
			    char **ret_refusal, struct err *err) MUST_USE;

/* Makes the Secret of the job's variables, if it has one, before any Pod that needs it. Waited for
 * as well. */
int registration_kube_create_secret(struct loop *loop, struct kube_api *api, const struct job *job,
				    const struct job_secret *secret, struct err *err) MUST_USE;

/* Makes the ConfigMaps of the files that travel with the job, before any Pod that mounts them. The
 * calls are waited for (kube/wait.h). */
int registration_kube_create_files(struct loop *loop, struct kube_api *api, const struct job *job,
				   const struct job_file *files, size_t n_files,
				   struct err *err) MUST_USE;

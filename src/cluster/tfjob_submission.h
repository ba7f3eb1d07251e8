/* Creates a TFJob object for an operator to manage, and the objects of its files and variables,
 * which it owns. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "kube/api.h"
#include "spec/job.h"
#include "spec/job_files.h"

#include <stdbool.h>
#include <stddef.h>

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
 * ERR_EXISTS, ERR_REFUSED if permissions are missing, ERR_NOT_FOUND if the cluster knows no
 * TFJobs. */
int tfjob_submit(const struct tfjob_submission *submission, struct err *err) MUST_USE;

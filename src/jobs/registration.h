/* A job takes its place in the store: a new record, or the one of a finished job of the same name.
 */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"
#include "store/store.h"

#include <stdbool.h>

/* Records the job (which has its uid) with the calling process and its parent as its supervisor.
 * ERR_EXISTS when the name is taken; with `replaces_finished` only by a job that has not ended.
 * *ret_replaced_uid is the uid of the job that was replaced, whose folder is still there, or NULL;
 * the caller frees it. */
int registration_register(struct store *store, const struct job *job, bool replaces_finished,
			  msec now, char **ret_replaced_uid, struct err *err) MUST_USE;

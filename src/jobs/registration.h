/* Records a job in the store: a new record, or in place of a finished job of the same name. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"
#include "store/store.h"

#include <stdbool.h>

/* Records the job (which has its uid) with the calling process and its parent as its supervisor.
 * ERR_EXISTS when the name is taken; with `replaces_finished` only by a job that has not finished.
 * *ret_replaced_uid is the uid of the replaced job, whose directory still exists, or NULL; the
 * caller frees it. */
int registration_register(struct store *store, const struct job *job, bool replaces_finished,
			  msec now, char **ret_replaced_uid, struct err *err) MUST_USE;

/* A program in the place of a replica that runs on this machine. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/status.h"

/* Goes on as this program, with the environment that the replica was given and in the folder where
 * it is; `command` ends with NULL. Comes back only when that fails: ERR_CONFLICT: the replica does
 * not run; ERR_REFUSED, ERR_NOT_FOUND. */
int exec_here(const char *job_uid, const struct replica_status *replica, const char *const *command,
	      struct err *err) MUST_USE;

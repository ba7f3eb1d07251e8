/* How a job of a check has ended, and what failed in it first. For the files of core/check* alone.
 */
#pragma once

#include "core/check_facts.h"
#include "core/status.h"

#include <stdbool.h>

/* Notes what failed in a job that has ended. That muster was asked to end it is no failure, unless
 * the job `was_wanted`. */
void check_note_failure(struct check *check, enum check_job job, const struct status *status,
			bool was_wanted);

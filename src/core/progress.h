/* What a job is doing right now, in one row: how far its start has come, what it waits for. */
#pragma once

#include "base/msec.h"
#include "base/text.h"
#include "core/startup.h"
#include "core/status.h"

/* Adds "2 of 4 running, waiting for worker-3"; nothing while all that should run does, and when the
 * job has ended. Of Pods (`startup` is not NULL) it says how far their start has come, and what
 * the first of them is held up by. */
void progress_describe(const struct status *status, const struct startup *startup, msec now,
		       struct text *text);

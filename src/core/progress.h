/* What a job is doing right now, in one row: how far its start has come, what it waits for. */
#pragma once

#include "base/msec.h"
#include "base/text.h"
#include "core/status.h"

/* Adds "2 of 4 running, waiting for worker-3"; nothing while all that should run does, and when the
 * job has ended. */
void progress_describe(const struct status *status, msec now, struct text *text);

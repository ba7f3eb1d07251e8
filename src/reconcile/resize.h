/* Decides after scaling whether running replicas may stay, or the whole job restarts in the new
 * size. */
#pragma once

#include "reconcile/decision.h"

/* Restarts the whole job if a replica was added or removed whose presence its peers read at their
 * start (job_resizes_whole). This is a planned restart: it is not charged, and the old processes
 * get the full grace period. Only for a job that continues. */
void resize_if_scaled(struct decision *decision);

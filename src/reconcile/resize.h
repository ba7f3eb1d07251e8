/* A job that was scaled: whether those that run may stay, or all start again in the new size. */
#pragma once

#include "reconcile/decision.h"

/* Starts the whole job again when a replica has come or gone that its peers were, or were not, told
 * of when they started (job_resizes_whole). It is a planned restart: nobody is charged, and the
 * processes of the old size have the full grace time. Only for a job that goes on. */
void resize_if_scaled(struct decision *decision);

/* Restarts: which failures are answered by another attempt, of which replicas, how often and how
 * soon; and the starts that are missing. */
#pragma once

#include "reconcile/decision.h"

#include <stdbool.h>

/* Answers every replica that ended and may not stay ended: with a new attempt of it or of the whole
 * job (restartScope), or, where its policy, backoffLimit or the deadline says no, with the end of
 * the job.
 * False when there was nothing to answer. */
bool restart_or_fail(struct decision *decision);

/* Plans the addresses that are missing, or, when all are there and no restart waits, the starts. No
 * replica starts while an older attempt of it lives. */
void missing_plan(struct decision *decision);

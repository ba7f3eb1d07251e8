/* Restarts: which failures lead to another attempt, of which replicas, how often and how soon; and
 * the starts that are still to do. */
#pragma once

#include "reconcile/decision.h"

#include <stdbool.h>

/* Answers every replica that ended and may not stay ended, with a new attempt of it or of the whole
 * job (restartScope). If its policy, backoffLimit or the deadline forbids that, the job ends.
 * Returns false if there was nothing to answer. */
bool restart_or_fail(struct decision *decision);

/* Plans the missing addresses, or, if all exist and no restart is waiting, the starts. No replica
 * starts while an older attempt of it is live. */
void missing_plan(struct decision *decision);

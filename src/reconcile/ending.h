/* Plans what has to end: leftovers of old attempts, replicas that are no longer wanted, and those
 * of a job at rest. */
#pragma once

#include "reconcile/decision.h"

/* Marks in the status what is going to end. Plans the stops, the kills of overdue stops, the
 * removals, and the addresses to unpublish.
 *
 * A job that ends in turns has one grace period for all turns. Replicas of a later turn are asked
 * when the earlier ones have ended, but at the latest after a half (workers) or three quarters
 * (parameter servers) of the grace period. The status has its beginning (ending_since). */
void ending_plan(struct decision *decision);

/* What has to end: leftovers of old attempts, replicas that are no longer wanted, and those of a
 * job at rest. */
#pragma once

#include "reconcile/decision.h"

/* A job that is ended in turns has one grace for all of them. Whose turn is later is asked when
 * those before it have ended, and at the latest after a half (workers) or three quarters (parameter
 * servers) of the grace. The status has since when (ending_since).
 *
 * Marks in the status what is going to end, and plans the stops, the kills of overdue stops, the
 * removals, and the addresses to take back. */
void ending_plan(struct decision *decision);

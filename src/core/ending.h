/* What has to end: leftovers of old attempts, replicas that are no longer wanted, and those of a
 * job at rest. */
#pragma once

#include "core/decision.h"

/* Marks in the status what is going to end, and plans the stops, the kills of overdue stops, the
 * removals, and the addresses to take back. */
void ending_plan(struct decision *decision);

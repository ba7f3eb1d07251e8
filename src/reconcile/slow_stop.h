/* What still runs a while after the signal that asks it to end: a trouble like others
 * (reconcile/waiting_reason.h), told once for all that it concerns. */
#pragma once

#include "reconcile/decision.h"

/* Says of each replica that the signal had no effect so far, what follows, and what ends it sooner.
 * After waiting_reasons_find, and only where the back end sends the signal. */
void slow_stops_find(struct decision *decision);

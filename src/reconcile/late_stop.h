/* What still runs a while after the signal that asks it to end: a trouble like others
 * (reconcile/obstacle.h), told once for all that it concerns. */
#pragma once

#include "reconcile/decision.h"

/* Says of each replica that the signal had no effect so far, what follows, and what ends it sooner.
 * After obstacles_find, and only where the back end sends the signal. */
void late_stops_find(struct decision *decision);

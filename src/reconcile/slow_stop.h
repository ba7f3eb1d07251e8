/* Replicas that are still running a while after their stop signal. They are reported once, all
 * together, as a waiting reason (reconcile/waiting_reason.h). */
#pragma once

#include "reconcile/decision.h"

/* Sets for each such replica that the signal had no effect so far, what follows, and how to end it
 * sooner. Call it after waiting_reasons_find, and only if the back end sends the signal. */
void slow_stops_find(struct decision *decision);

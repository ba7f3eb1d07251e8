/* The steps of a decision (reconcile/reconcile.c) that are long enough for a file of their own. */
#pragma once

#include "reconcile/decision.h"

#include <stdbool.h>

/* Replaces the steps of reconcile_decide for a job that runs on this machine only, as one machine
 * of an elastic job. Which of its processes should run is decided by the job's server
 * (rendezvous/rendezvous.h) and given in observed->world. Attempts are generations. A failure is
 * reported, not answered by a restart. Success is that of all machines. */
void elastic_decide(struct decision *decision);

/* Restarts the whole job after scaling, if a replica was added or removed whose presence its peers
 * read at their start (job_resizes_whole). This is a planned restart: it is not charged, and the
 * old processes get the full grace period. Only for a job that continues. */
void resize_if_scaled(struct decision *decision);

/* Answers every replica that ended and may not stay ended, with a new attempt of it or of the whole
 * job (restartScope). If its policy, backoffLimit or the deadline forbids that, the job ends.
 * Returns false if there was nothing to answer. */
bool restart_or_fail(struct decision *decision);

/* Plans the missing addresses, or, if all exist and no restart is waiting, the starts. No replica
 * starts while an older attempt of it is live. */
void missing_plan(struct decision *decision);

/* Plans what has to end: leftovers of old attempts, replicas that are no longer wanted, and those
 * of a job at rest. Marks them in the status. Plans the stops, the kills of overdue stops, the
 * removals, and the addresses to unpublish.
 *
 * A job that ends in turns has one grace period for all turns. Replicas of a later turn are asked
 * when the earlier ones have ended, but at the latest after a half (workers) or three quarters
 * (parameter servers) of the grace period. The status has its beginning (ending_since). */
void ending_plan(struct decision *decision);

/* Finds replicas that are still running a while after their stop signal. They are reported once,
 * all together, as a waiting reason (reconcile/waiting_reason.h). Sets for each that the signal had
 * no effect so far, what follows, and how to end it sooner. Call it after waiting_reasons_find, and
 * only if the back end sends the signal. */
void slow_stops_find(struct decision *decision);

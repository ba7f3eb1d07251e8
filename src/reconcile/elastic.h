/* Decides about the processes of one machine of an elastic job. Which of them should run is decided
 * by the job's server (rendezvous/rendezvous.h) and given in observed->world. Attempts are
 * generations. A failure is reported, not answered by a restart. Success is that of all
 * machines. */
#pragma once

#include "reconcile/decision.h"

/* Replaces the steps of reconcile_decide for a job that runs on this machine only. */
void elastic_decide(struct decision *decision);

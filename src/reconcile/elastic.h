/* What one machine of an elastic job does with its processes. Which of them are to run is not
 * decided here but by the job's server (rendezvous/rendezvous.h), as observed->world says: attempts
 * are generations, a failure is told and not answered, and success is that of all machines. */
#pragma once

#include "reconcile/decision.h"

/* In the place of what reconcile_decide decides for a job that is all on this machine. */
void elastic_decide(struct decision *decision);

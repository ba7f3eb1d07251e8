/* Events of a TFJob, as training-operator 1.9 sends them. */
#pragma once

#include "core/job.h"
#include "core/plan.h"
#include "kube/api.h"

/* Sends one and waits for nothing: one that cannot be sent is lost, for an Event is news. */
void tfjob_event_send(struct kube_api *api, const struct job *job, const struct note *note);

/* The logs of a job on a cluster, fetched into a folder of this machine to be read
 * there, where no muster of this machine does that already. New Pods join at once. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/job.h"
#include "engine/client.h"
#include "kube/api.h"

/* Takes the API, which is on the request's loop, and the job, which has its uid and namespace: a
 * TFJob object, or one of `run --on kubernetes`. Of such a one that is untouched
 * (record_is_untouched) Pods that nobody owns are its own. */
struct client_logs *client_kube_logs_new(struct kube_api *take_api, struct job *take_job,
					 bool is_of_tfjob, bool is_untouched,
					 const struct client_logs_request *request) MUST_USE;
msec client_kube_logs_known_until(const struct client_logs *logs);
void client_kube_logs_free(struct client_logs *logs); /* NULL is fine */

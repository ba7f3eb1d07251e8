/* Fetches directories from Pods when the job has finished or is stopped, one after the other. Until
 * then, Pods that have one stay (cluster/pod_calls.c). */
#pragma once

#include "cluster/supervision_state.h"

/* Starts the fetches if they are not running; true when all are over. */
bool supervision_kube_fetch(struct cluster_supervision *supervision);
/* The same, if deletions of Pods wait for the fetch. */
void supervision_kube_fetch_when_held_up(struct cluster_supervision *supervision);
/* Cancels the fetches because the user does not want to wait; `exit_code` becomes that of a job
 * that succeeded. False if no fetch is left. */
bool supervision_kube_give_up_fetching(struct cluster_supervision *supervision, int exit_code);
/* backend_kube_settings.holds; data is the supervision's base. */
bool supervision_kube_holds(const struct job *job, const char *role, int index, void *data);

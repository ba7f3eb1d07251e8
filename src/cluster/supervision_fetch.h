/* Folders of Pods, fetched when the job has ended or is stopped, one after the other. Until it is
 * over, Pods that have one stay (cluster/pod_calls.c). */
#pragma once

#include "cluster/supervision_state.h"

/* Fetches what is to be fetched; true when that is over. */
bool supervision_kube_fetch(struct cluster_supervision *supervision);
/* The same, when Pods wait for it with their end. */
void supervision_kube_fetch_when_held_up(struct cluster_supervision *supervision);
/* Somebody does not want to wait. False when there is nothing that is waited for. */
bool supervision_kube_give_up_fetching(struct cluster_supervision *supervision, int exit_code);
/* backend_kube_settings.holds; data is the supervision's base. */
bool supervision_kube_holds(const struct job *job, const char *role, int index, void *data);

/* The steps of a supervision on a cluster: reconcile passes, news, signals and the end. */
#pragma once

#include "cluster/supervision_state.h"

extern const struct supervision_parts supervision_kube_parts; /* their data: the supervision */
/* Follows other clients' changes of the job's ConfigMap in the cache. */
void supervision_kube_watch_owner(struct cluster_supervision *supervision);
/* Reports the recorded status, overlaid with the state of the Pods, if it has changed. */
int supervision_kube_report_status(struct cluster_supervision *supervision,
				   struct err *err) MUST_USE;

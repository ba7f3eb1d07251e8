/* What passes, news, signals and the end are on a cluster. */
#pragma once

#include "cluster/supervision_state.h"

extern const struct supervision_parts supervision_kube_parts; /* their data: the supervision */
/* Takes news of the job's ConfigMap, in the cache, as others change it. */
void supervision_kube_watch_owner(struct cluster_supervision *supervision);
/* Tells the status as it stands in the record, with what Pods show, when it is another one. */
int supervision_kube_report_status(struct cluster_supervision *supervision,
				   struct err *err) MUST_USE;

/* What this machine remembers of the job (jobs/cluster_job_record.h): the cluster forgets it when
 * it has ended, or is deleted, and another machine may take it over. Nothing here stops the job
 * from going on. */
#pragma once

#include "cluster/supervision_state.h"

/* That it goes on, and how it is. */
void supervision_kube_update_record(struct cluster_supervision *supervision);
/* That it has ended, for a reason of reconcile_lost. */
void supervision_kube_finish_record(struct cluster_supervision *supervision, const char *reason,
				    const char *why);
/* That, and where, it has ended in order. */
void supervision_kube_create_record(struct cluster_supervision *supervision);

/* This machine's record of the job (jobs/cluster_job_record.h): the cluster deletes its own when
 * the job has finished, and another machine may take the job over. A failure in this file does not
 * stop the job. */
#pragma once

#include "cluster/supervision_state.h"

/* Records that it is active, and its status. */
void supervision_kube_update_record(struct cluster_supervision *supervision);
/* Records that it has ended, for a reason of reconcile_lost. */
void supervision_kube_finish_record(struct cluster_supervision *supervision, const char *reason,
				    const char *why);
/* Records that it has finished, and where. */
void supervision_kube_create_record(struct cluster_supervision *supervision);

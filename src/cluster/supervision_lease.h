/* The job's Lease: whether this process acts, only follows, or leaves.
 *
 * The deadline also holds after this process, or the whole machine, was suspended: each try of each
 * change calls supervision_kube_may_act, which reads the clock. */
#pragma once

#include "cluster/supervision_state.h"

int supervision_kube_watch_lease(struct cluster_supervision *supervision, struct err *err) MUST_USE;
/* Whether this process may change the job now. */
/* Instead of watching a Lease: this process never changes the job. */
void supervision_kube_only_follow(struct cluster_supervision *supervision);
bool supervision_kube_may_act(const struct cluster_supervision *supervision);

/* The job's Lease: whether we act, only look, or leave.
 *
 * The deadline holds also when this process stood still, stopped or with the whole machine: each
 * try of each change asks supervision_kube_may_act, which asks the clock. */
#pragma once

#include "cluster/supervision_state.h"

int supervision_kube_watch_lease(struct cluster_supervision *supervision, struct err *err) MUST_USE;
/* We may act now. */
/* Instead of watching a Lease: nothing is ever changed from here. */
void supervision_kube_only_follow(struct cluster_supervision *supervision);
bool supervision_kube_may_act(const struct cluster_supervision *supervision);

/* `muster run --on kubernetes`, for the program that speaks to clusters. */
#pragma once

#include "cli/job_source.h"
#include "cli/options.h"

/* Sees the job through on the cluster that --kubeconfig, --context and --namespace choose, as
 * kubectl chooses it; gives the exit code. */
int run_on_cluster(const struct options *options, const struct job_source *source);

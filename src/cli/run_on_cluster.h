/* `muster run --on kubernetes` and `muster attach` there, for the program that speaks to clusters.
 */
#pragma once

#include "base/err.h"
#include "cli/job_source.h"
#include "command/options.h"
#include "http/listening.h"

/* Sees the job through on the cluster that --kubeconfig, --context and --namespace choose, as
 * kubectl chooses it, its metrics told at the socket (NULL: nowhere); gives the exit code. */
int run_on_cluster(const struct options *options, const struct job_source *source,
		   const struct listening *metrics);

/* Tells an error of attach: 4 where somebody else watches the job, 125 where there is none, else as
 * kube_cluster_fail. Both programs have it. */
int attach_fail(const struct err *err);

/* `submit`: makes the job a TFJob of the cluster that the options choose, tells its name and gives
 * the exit code. */
int submit_to_operator(const struct options *options, const struct job_source *source) MUST_USE;

/* `attach` to a job on the cluster that the options choose, a TFJob object or one of `run --on
 * kubernetes`; gives the exit code. */
int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name,
		      bool is_tfjob);

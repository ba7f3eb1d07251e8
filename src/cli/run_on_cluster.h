/* `muster run --on kubernetes` and `muster attach` to a job on a cluster, for the program for
 * clusters. */
#pragma once

#include "base/err.h"
#include "cli/job_source.h"
#include "command/options.h"
#include "http/listening.h"

/* Supervises the job on the cluster that --kubeconfig, --context and --namespace select, as in
 * kubectl, with its metrics on the socket (NULL: none); returns the exit code. */
int run_on_cluster(const struct options *options, const struct job_source *source,
		   const struct listening *metrics);

/* Prints an error of attach. Returns 4 if another process supervises the job, 125 if there is no
 * such job, else as kube_cluster_fail. Both programs have it. */
int attach_fail(const struct err *err);

/* `submit`: creates the job as a TFJob on the cluster that the options select, prints its name and
 * returns the exit code. */
int submit_to_operator(const struct options *options, const struct job_source *source) MUST_USE;

/* `attach` to a job on the cluster that the options select, a TFJob object or one of `run --on
 * kubernetes`; returns the exit code. */
int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name,
		      bool is_tfjob);

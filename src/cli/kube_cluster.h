/* Selects the cluster of a command: kubectl's options for that, and the login of that cluster. */
#pragma once

#include "base/err.h"
#include "command/options.h"
#include "io/loop.h"
#include "kube/config.h"
#include "kube/login.h"
#include "spec/job.h"

/* The rows of the options that select it, for a command's table; without --namespace. */
#define CLUSTER_CHOICE_ROWS                                                                        \
	OPTION("context", TEXT, "CONTEXT", NULL, "kubeconfig context to use",                      \
	       .group = OPTIONS_OF_KUBERNETES),                                                    \
		OPTION("kubeconfig", TEXT, "FILE", NULL, "kubeconfig file to use",                 \
		       .group = OPTIONS_OF_KUBERNETES)

/* The same, for a command that contacts the cluster. */
#define CLUSTER_ROWS                                                                               \
	CLUSTER_CHOICE_ROWS, OPTION("request-timeout", DURATION, "DURATION", NULL,                 \
				    "time after which a silent API server counts as lost",         \
				    .group = OPTIONS_OF_KUBERNETES, .has_variable = true)

/* The rows of a command that works on jobs: with the namespace. */
#define CLUSTER_JOB_ROWS                                                                           \
	CLUSTER_ROWS, OPTION("namespace", TEXT, "NAMESPACE", NULL, "namespace on the cluster",     \
			     .letter = 'n', .group = OPTIONS_OF_KUBERNETES)

/* All rows of a command that has only these. */
extern const struct option_row cluster_job_rows[];

/* For commands that go into a Pod. */
#define CONTAINER_ROW                                                                              \
	OPTION("container", TEXT, "NAME", NULL,                                                    \
	       "container of the Pod (default: the training container)", .letter = 'c')

/* The cluster, user and namespace of the options and of this process's environment; the command has
 * the rows above, and --namespace. The errors of kube_config_read. */
int kube_cluster_read_config(const struct options *options, struct kube_config **ret_config,
			     struct err *err) MUST_USE;

/* A copy of the job in the namespace that its document names, else in that of this kubeconfig. */
int kube_cluster_place_job(const struct kube_config *config, const struct job *job,
			   struct job **ret_job, struct err *err) MUST_USE;

/* The place of a job of that cluster in our records (jobs/cluster_job_record.h). Caller frees. */
char *kube_cluster_write_place(const struct options *options, const struct kube_config *config,
			       const char *namespace_name) MUST_USE;

/* A new login for these options (`data` is a struct options), for one loop. Files are read each
 * time: credentials may be renewed. Warnings go to stderr. A kube_log_in_fn. */
int kube_cluster_log_in(struct loop *loop, struct kube_login **ret_login, struct err *err,
			void *data) MUST_USE;

/* Prints an error of run, attach or wait, whose exit code is otherwise the job's: nothing was done.
 * Returns 2 if a file or an option has to be fixed (or the namespace does not exist), 3 if the
 * cluster does not respond or rejects the login, else 125. */
int kube_cluster_fail(const struct err *err);

/* Prints a warning for each unsafe setting of this cluster. */
void kube_cluster_warn(const struct kube_config *config);

/* `muster attach` of a job on a cluster, for the program that speaks to clusters. */
#pragma once

#include "base/err.h"
#include "cli/options.h"

/* Tells an error of attach: 4 where somebody else watches the job, 125 where there is none, else as
 * cluster_fail. Both programs have it. */
int attach_fail(const struct err *err);

/* What edition_attach_on_cluster is there: see cli/edition.h. */
int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name);

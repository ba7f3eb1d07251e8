/* Opens the client for jobs on a cluster, for the program that speaks to clusters. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cli/options.h"
#include "engine/client.h"

/* What edition_open_cluster is there: see cli/edition.h. The options outlive the client. */
int cluster_client_open(const struct options *options, const char *namespace_name,
			const char *state_folder, struct client **ret_client,
			struct err *err) MUST_USE;

/* The jobs of a cluster as `ps` lists them. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "jobs/client.h"
#include "kube/api.h"

#include <stddef.h>

/* Runs the loop until all pages were read; rows are those of `list` in jobs/client.h.
 * `namespace_name` may be KUBE_ALL_NAMESPACES. */
int client_kube_list(struct kube_api *api, const char *namespace_name, struct client_row **ret_rows,
		     size_t *ret_count, struct err *err) MUST_USE;

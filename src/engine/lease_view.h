/* Who watches one job on a cluster, as its Lease says now (kube/lease.h). For clients, which only
 * want to know. */
#pragma once

#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>

struct lease_view;

struct lease_view_settings {
	struct loop *loop;
	struct kube_api *api;
	const char *namespace_name; /* lives as long as the view */
	/* It was seen, or somebody else watches the job, or nobody any more. */
	void (*on_change)(void *data);
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

/* Begins to follow the Lease of this job. */
struct lease_view *lease_view_new(const struct lease_view_settings *settings,
				  const char *job_name) MUST_USE;
void lease_view_free(struct lease_view *view); /* NULL is fine */

/* It was looked at; also true where Leases may not be read. */
bool lease_view_is_synced(const struct lease_view *view);
/* "muster on laptop (process 4711)"; "" without an active one; NULL when that is not known, because
 * Leases may not be read. Borrowed until the loop runs. */
const char *lease_view_supervisor(const struct lease_view *view);

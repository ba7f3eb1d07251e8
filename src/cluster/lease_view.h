/* Who supervises one job on a cluster, as its Lease says now (kube/lease.h). For clients, which
 * only want to know. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

struct lease_view;

/* `on_change` is called when another supervises the job, or nobody any more; renewals alone are no
 * change. */
struct lease_view *lease_view_new(struct loop *loop, struct kube_api *api, loop_fn on_change,
				  void *data) MUST_USE;
void lease_view_free(struct lease_view *view); /* NULL is fine */

/* The Lease as it is now; NULL: there is none. */
void lease_view_update(struct lease_view *view, const struct json *object);
/* Leases may not be read. */
void lease_view_update_refused(struct lease_view *view);

/* "muster on laptop (process 4711)"; "" without an active one; NULL when that is not known, because
 * Leases may not be read. Borrowed until the loop runs. */
const char *lease_view_supervisor(const struct lease_view *view);

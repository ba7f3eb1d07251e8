/* The supervisor of one job on a cluster, as its Lease shows now (kube/lease.h). For clients, which
 * only read it. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

struct lease_view;

/* `on_change` is called when the job gets another supervisor or none; renewals alone do not call
 * it. */
struct lease_view *lease_view_new(struct kube_api *api, loop_fn on_change, void *data) MUST_USE;
void lease_view_free(struct lease_view *view); /* NULL is fine */

/* The current Lease; NULL: there is none. */
void lease_view_update(struct lease_view *view, const struct json *object);
/* The login may not read Leases. */
void lease_view_update_refused(struct lease_view *view);

/* "muster on laptop (process 4711)"; "" without an active supervisor; NULL when unknown, because
 * the login may not read Leases. Borrowed until the loop runs. */
const char *lease_view_supervisor(const struct lease_view *view);

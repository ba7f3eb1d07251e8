/* A job's status as it is kept where its replicas can be looked at themselves: on a cluster, whose
 * Pods show what runs, where, and since when. What they cannot show is in it: conditions, attempts,
 * restarts, how replicas ended, the failure. Ten thousand replicas have room in a ConfigMap,
 * however different their stories are (docs/design/0029-what-a-cluster-keeps-of-a-status.md).
 *
 *     "replicaGroups": [{"role": "worker", "indices": "0-9999", "state": "Started",
 *                        "attempt": [[0, 9998], 1, 0], "restarts": [[0, 9998], 1, 0]}]
 *
 * A group has the replicas of a role, and for each member either the one value that all have, or a
 * list with an element for each replica in turn, in which [VALUE, COUNT] stands for so many in a
 * row. What is not there is as in a replica that was never started; times are milliseconds after
 * the group's "since". "Started" says that a replica runs or is about to: the Pod knows which. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "status/status.h"

/* The messages of all replicas of a role, and what is said of all that failed with the first one,
 * have this room; what is more is left out. No decision depends on them. */
#define COMPACT_STATUS_TEXTS (64 * 1024)

/* The caller frees it. Counts of replicas by their states are in it only where they are not to be
 * counted again (status_is_finished, with success). */
struct json *compact_status_write(const struct status *status) MUST_USE;

/* Makes of what compact_status_write wrote what status_write would write of the same; anything else
 * stays as it is. ERR_INVALID names the member. */
int compact_status_unfold(struct json *status, struct err *err) MUST_USE;
/* Reads what compact_status_write or status_write wrote, as status_read does. What runs counts as
 * Starting until its Pod is looked at. */
int compact_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
			struct err *err) MUST_USE;

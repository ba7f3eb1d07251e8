/* The compact form of a job's status on a cluster. The Pods themselves show what runs, where, and
 * since when. The status has what they cannot show: conditions, attempts, restarts, how replicas
 * ended, the failure. Ten thousand replicas fit into a ConfigMap, however different their histories
 * are (docs/design/0029-what-a-cluster-keeps-of-a-status.md).
 *
 *     "replicaGroups": [{"role": "worker", "indices": "0-9999", "state": "Started",
 *                        "attempt": [[0, 9998], 1, 0], "restarts": [[0, 9998], 1, 0]}]
 *
 * A group describes replicas of a role. Each member has either one value for all, or a list with an
 * element for each replica in turn; [VALUE, COUNT] means COUNT equal values in a row. An absent
 * member is as in a replica that was never started. Times are milliseconds after the group's
 * "since". "Started" means running or about to run: the Pod shows which. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "status/status.h"

/* Limits the messages of all replicas of a role, and the texts of all failures after the first; the
 * excess is omitted. No decision depends on these texts. */
#define COMPACT_STATUS_TEXTS (64 * 1024)

/* The caller frees the result. It has counts of replicas by state only if they cannot be counted
 * again (status_is_finished, with success). */
struct json *compact_status_write(const struct status *status) MUST_USE;

/* Expands a compact status to what status_write would write; any other status stays unchanged.
 * Returns ERR_INVALID with the member's name. */
int compact_status_unfold(struct json *status, struct err *err) MUST_USE;
/* Reads the output of compact_status_write or status_write, as status_read does. A running replica
 * counts as Starting until its Pod is observed. */
int compact_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
			struct err *err) MUST_USE;

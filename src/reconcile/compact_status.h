/* The compact form of a job's status on a cluster. The Pods themselves show what runs, where, and
 * since when. The status has what they cannot show: conditions, attempts, restarts, how replicas
 * ended, the failure (docs/design/0029-what-a-cluster-keeps-of-a-status.md).
 *
 * It is the JSON of status_write, but replicas of a role that are alike are one element, and so are
 * consequences of a failure: "indices" replaces "index".
 *
 *     "replicas": [{"role": "worker", "indices": "0-2,4-9999", "attempt": 0, "state": "Started",
 *                   "restarts": 0}]
 *
 * "Started" means running or about to run: the Pod shows which. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "status/status.h"

/* Limits the messages of all replicas together, and the texts of all consequences; the excess is
 * omitted. No decision depends on these texts. */
#define COMPACT_STATUS_TEXTS (64 * 1024)
#define COMPACT_STATUS_TEXT (4 * 1024) /* a longer one is omitted (the kubelet's own limit) */
/* Bytes of the JSON that an expanded list may have: no list of compact_status_write has more. */
#define COMPACT_STATUS_UNFOLDED (64 * 1024 * 1024)

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

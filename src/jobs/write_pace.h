/* When a decision's status has to be in a store that keeps it small, where each write is a call and
 * much of what changes is nothing that has to be remembered.
 *
 * What something hangs on is written before that is done: actions, notes, the job's conditions, its
 * end. What the next decision would see by itself (a replica that has started to run, or has ended
 * by itself and is still there), and how many run, waits for the next such write, until nothing has
 * changed for WRITE_QUIET, or for WRITE_PAUSE at most
 * (docs/design/0029-what-a-cluster-keeps-of-a-status.md). */
#pragma once

#include "base/msec.h"
#include "reconcile/plan.h"
#include "status/status.h"
#include "store/store.h"

#include <stdbool.h>

#define WRITE_QUIET MSEC_PER_SECOND
#define WRITE_PAUSE (5 * MSEC_PER_SECOND) /* between two writes of what can wait */

/* Whether `change`, which the plan leads to, says anything that does not stand in the record. */
bool write_is_needed(const struct store_change *change, const struct store_record *record);
/* Whether it may not wait; `before` is the status that the plan was made from. */
bool write_is_urgent(const struct plan *plan, const struct status *before,
		     const struct store_change *change, const struct store_record *record);
/* Of the change remains what does not stand in the record. */
void write_leave_out(struct store_change *change, const struct store_record *record);

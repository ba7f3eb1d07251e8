/* Decides when a status has to be written to a store that keeps it small. Each write is a call, and
 * many changes need not be stored.
 *
 * A status is written before anything that depends on it: actions, notes, the job's conditions, its
 * end. Other facts wait for the next such write: those that the next decision would observe again
 * (a replica has started to run, or has exited and is still there), and how many run. They wait
 * until nothing has changed for WRITE_QUIET, or for WRITE_PAUSE at most
 * (docs/design/0029-what-a-cluster-keeps-of-a-status.md). */
#pragma once

#include "base/msec.h"
#include "reconcile/plan.h"
#include "status/status.h"
#include "store/store.h"

#include <stdbool.h>

#define WRITE_QUIET MSEC_PER_SECOND
#define WRITE_PAUSE (5 * MSEC_PER_SECOND) /* between two writes that can wait */

/* Whether `change`, the result of the plan, differs from the record. */
bool write_is_needed(const struct store_change *change, const struct store_record *record);
/* Whether the write may not wait; `before` is the status that the plan was made from. */
bool write_is_urgent(const struct plan *plan, const struct status *before,
		     const struct store_change *change, const struct store_record *record);
/* Removes from the change what the record already contains. */
void write_leave_out(struct store_change *change, const struct store_record *record);

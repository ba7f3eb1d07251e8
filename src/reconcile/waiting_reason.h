/* What stands in the way of replicas: each trouble is one sentence, with all replicas that it holds
 * up.
 *
 * A replica that begins, or runs, and has a reason is held up or threatened by what the reason
 * says. It may still go away by itself: nobody fails because of it. */
#pragma once

#include "base/text.h"
#include "reconcile/decision.h"
#include "status/status.h"

#include <stdbool.h>

/* Adds a line for each trouble: "worker-1 and 3 more: cannot be scheduled (Unschedulable): 0/4
 * nodes are available"; each begins with `indent`. */
void waiting_reasons_describe(const struct status *status, const char *indent, struct text *text);

/* Adds the first of them alone, behind `before`: "; worker-3 cannot be scheduled (Unschedulable):
 * …". */
void waiting_reason_add_first(const struct status *status, const char *before, struct text *text);

/* Says of each replica that is to start or to end whether an attempt that does not end holds it up.
 * After all that begins and ends attempts. */
void waiting_reasons_find(struct decision *decision);

/* Notes of the decision for what is new: one that was there before is not told again when its words
 * change a little. */
void waiting_reasons_report(struct decision *decision);

/* What holds up replicas: each reason is one sentence, with all replicas that it concerns.
 *
 * A starting or running replica with a reason is held up or threatened by it. The reason may be
 * temporary: no replica fails because of it. */
#pragma once

#include "base/text.h"
#include "reconcile/decision.h"
#include "status/status.h"

/* Appends a line for each reason: "worker-1 and 3 more: cannot be scheduled (Unschedulable): 0/4
 * nodes are available"; each begins with `indent`. */
void waiting_reasons_describe(const struct status *status, const char *indent, struct text *text);

/* Appends only the first reason, after `before`: "; worker-3 cannot be scheduled (Unschedulable):
 * …". Returns its word; NULL: there is none. */
const char *waiting_reason_add_first(const struct status *status, const char *before,
				     struct text *text);

/* Sets for each replica that has to start or end whether an unfinished attempt holds it up. Call it
 * after all steps that begin and end attempts. */
void waiting_reasons_find(struct decision *decision);

/* Adds notes for new reasons to the decision. A slightly other wording is not reported again. */
void waiting_reasons_report(struct decision *decision);

#include "jobs/write_pace.h"

#include "base/text.h"

static bool is_status_new(const struct store_change *change, const struct store_record *record)
{
	return !text_equals(change->status, record->status);
}

bool write_is_needed(const struct store_change *change, const struct store_record *record)
{
	return change->document || is_status_new(change, record) ||
	       !text_equals(change->summary, record->summary);
}

static bool is_condition_new(const struct status *before, const struct condition *condition)
{
	const struct condition *old = status_condition(before, condition->type);

	return !old || old->is_true != condition->is_true ||
	       !text_equals(old->reason, condition->reason);
}

static bool is_any_condition_new(const struct status *before, const struct status *after)
{
	bool is_new = before->n_conditions != after->n_conditions;

	for (size_t i = 0; i < after->n_conditions; i++)
		is_new |= is_condition_new(before, &after->conditions[i]);
	return is_new;
}

bool write_is_urgent(const struct plan *plan, const struct status *before,
		     const struct store_change *change, const struct store_record *record)
{
	return change->document || plan->is_job_drained ||
	       (is_status_new(change, record) &&
		(plan->n_actions || plan->n_notes || plan->is_failure_new ||
		 is_any_condition_new(before, &plan->status)));
}

void write_leave_out(struct store_change *change, const struct store_record *record)
{
	if (!is_status_new(change, record))
		change->status = NULL;
	if (text_equals(change->summary, record->summary))
		change->summary = NULL;
}

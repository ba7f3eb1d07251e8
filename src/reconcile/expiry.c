#include "reconcile/expiry.h"

/* training-operator could leave a finished job without a completion time. */
static msec finished_at(const struct status *status)
{
	const struct condition *failed = status_condition(status, CONDITION_FAILED);
	const struct condition *end =
		failed ? failed : status_condition(status, CONDITION_SUCCEEDED);

	return status->completion_time == MSEC_UNSET && end ? end->last_transition
							    : status->completion_time;
}

msec expiry_of_job(const struct job *job, const struct status *status)
{
	bool is_kept = job->ttl_after_finished < 0 || job->is_suspended;

	return is_kept || !status_is_finished(status)
		       ? MSEC_NEVER
		       : finished_at(status) + job->ttl_after_finished;
}

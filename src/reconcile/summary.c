#include "reconcile/summary.h"

#include "reconcile/finish.h"
#include "status/failure_words.h"

#define COMMAND_COLUMNS 80

/* A stopped job is no failure to the reader, whatever its condition is called. */
static const char *summary_state_of(const struct status *status)
{
	if (status_is_finished(status) && status->failure &&
	    text_equals(status->failure->reason, FAILURE_STOPPED))
		return FAILURE_STOPPED;
	for (size_t i = status->n_conditions; i > 0; i--)
		if (status->conditions[i - 1].is_true)
			return condition_type_words[status->conditions[i - 1].type];
	return "Pending";
}

/* The first replica that holds up the start, and the number of others. */
static const char *describe_waiting(const struct status *status, struct arena *arena)
{
	const struct replica_status *first = NULL;
	int n_more = 0;

	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->state != REPLICA_PENDING && replica->state != REPLICA_STARTING)
			continue;
		if (first)
			n_more++;
		else
			first = replica;
	}
	if (!first)
		return "";
	return n_more ? arena_format(arena, "waiting for %s-%d and %d more", first->role,
				     first->index, n_more)
		      : arena_format(arena, "waiting for %s-%d", first->role, first->index);
}

static const char *describe_job_state(const struct job *job, const struct status *status,
				      struct arena *arena)
{
	const struct failure *failure = status->failure;

	if (status_condition_is_true(status, CONDITION_SUCCEEDED))
		return "";
	if (status_condition_is_true(status, CONDITION_FAILED) && failure && failure->exception)
		return arena_format(arena, "%s: %s", failure->message, failure->exception);
	if (status_condition_is_true(status, CONDITION_FAILED))
		return failure ? failure->message : "";
	if (job->stop_reason)
		return arena_format(arena, "stopping (%s)", job->stop_reason);
	if (job->is_suspended)
		return "";
	if (status_condition_is_true(status, CONDITION_QUEUED))
		return status_condition(status, CONDITION_QUEUED)->message;
	if (status_condition_is_true(status, CONDITION_RESTARTING) && failure)
		return failure->message;
	return describe_waiting(status, arena);
}

void summary_create(const struct job *job, const struct status *status, struct arena *arena,
		    struct summary *ret_summary)
{
	struct text roles CLEANUP(text_done) = {0}, command CLEANUP(text_done) = {0};
	msec expiry = expiry_of_job(job, status);

	job_describe_size(job, &roles);
	role_describe_command(job_default_role(job), COMMAND_COLUMNS, &command);
	*ret_summary = (struct summary){
		.state = summary_state_of(status),
		.roles = arena_copy_text(arena, text_of(&roles)),
		.command = arena_copy_text(arena, text_of(&command)),
		.message = describe_job_state(job, status, arena),
		.wanted = job_replica_count(job),
		.restarts = status->restarts,
		.exit_code = status_is_finished(status) ? status->exit_code : -1,
		.is_finished = status_is_finished(status),
		.start_time = status->start_time,
		.completion_time = status->completion_time,
		.expires_at = expiry == MSEC_NEVER ? MSEC_UNSET : expiry,
	};
	for (size_t i = 0; i < status->n_replicas; i++)
		ret_summary->running += status->replicas[i].state == REPLICA_RUNNING;
}

static const struct json_field summary_fields[] = {
	FIELD(TEXT, TOLERATED, "state", summary, state),
	FIELD(TEXT, TOLERATED, "roles", summary, roles),
	FIELD(TEXT, TOLERATED, "command", summary, command),
	FIELD(TEXT, TOLERATED, "message", summary, message),
	FIELD(INT, TOLERATED, "running", summary, running, 0, INT32_MAX),
	FIELD(INT, TOLERATED, "wanted", summary, wanted, 0, INT32_MAX),
	FIELD(INT, TOLERATED, "restarts", summary, restarts, 0, INT32_MAX),
	FIELD(INT, TOLERATED, "exitCode", summary, exit_code, -1, INT32_MAX),
	FIELD(FLAG, TOLERATED, "finished", summary, is_finished),
	FIELD(TIME, TOLERATED, "startTime", summary, start_time),
	FIELD(TIME, TOLERATED, "completionTime", summary, completion_time),
	FIELD(TIME, TOLERATED, "expiresAt", summary, expires_at),
	{0},
};

struct json *summary_write(const struct summary *summary)
{
	struct json *object = json_new_object();

	fields_write(object, summary_fields, summary);
	return object;
}

void summary_read(const struct json *value, struct arena *arena, struct summary *ret_summary)
{
	*ret_summary = (struct summary){.state = "", .roles = "", .command = "", .message = ""};
	int rc = fields_read(value, NULL, summary_fields, arena, ret_summary, NULL);

	(void) rc; /* each field is tolerated */
}

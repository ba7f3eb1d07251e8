/* The line that `ps` shows of a job. */
#include "reconcile/summary.h"

#include "base/text.h"
#include "reconcile/finish.h"
#include "status/failure_words.h"

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

static const char *describe_roles(const struct job *job, struct arena *arena)
{
	struct text text CLEANUP(text_done) = {0};

	job_describe_size(job, &text);
	return arena_copy_text(arena, text_of(&text));
}

static int count_running(const struct status *status)
{
	int count = 0;

	for (size_t i = 0; i < status->n_replicas; i++)
		count += status->replicas[i].state == REPLICA_RUNNING;
	return count;
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
	if (status_condition_is_true(status, CONDITION_SUCCEEDED))
		return "";
	if (status_condition_is_true(status, CONDITION_FAILED))
		return status->failure ? status->failure->message : "";
	if (job->stop_reason)
		return arena_format(arena, "stopping (%s)", job->stop_reason);
	if (job->is_suspended)
		return "";
	if (status_condition_is_true(status, CONDITION_RESTARTING) && status->failure)
		return status->failure->message;
	return describe_waiting(status, arena);
}

static msec expires_at(const struct job *job, const struct status *status)
{
	msec expiry = expiry_of_job(job, status);

	return expiry == MSEC_NEVER ? MSEC_UNSET : expiry;
}

void summary_create(const struct job *job, const struct status *status, struct arena *arena,
		    struct summary *ret_summary)
{
	*ret_summary = (struct summary){
		.state = summary_state_of(status),
		.roles = describe_roles(job, arena),
		.message = describe_job_state(job, status, arena),
		.running = count_running(status),
		.wanted = job_replica_count(job),
		.restarts = status->restarts,
		.exit_code = status_is_finished(status) ? status->exit_code : -1,
		.is_finished = status_is_finished(status),
		.start_time = status->start_time,
		.completion_time = status->completion_time,
		.expires_at = expires_at(job, status),
	};
}

struct json *summary_write(const struct summary *summary)
{
	struct json *object = json_new_object();

	json_set_string(object, "state", summary->state);
	json_set_string(object, "roles", summary->roles);
	json_set_string(object, "message", summary->message);
	json_set_integer(object, "running", summary->running);
	json_set_integer(object, "wanted", summary->wanted);
	json_set_integer(object, "restarts", summary->restarts);
	json_set_integer(object, "exitCode", summary->exit_code);
	json_set_bool(object, "finished", summary->is_finished);
	json_set_time(object, "startTime", summary->start_time);
	json_set_time(object, "completionTime", summary->completion_time);
	json_set_time(object, "expiresAt", summary->expires_at);
	return object;
}

static const char *read_summary_text(const struct json *value, const char *key, struct arena *arena)
{
	return arena_copy_text(arena, json_as_string(json_get(value, key), ""));
}

static int read_summary_number(const struct json *value, const char *key, int otherwise)
{
	return (int) json_as_integer(json_get(value, key), otherwise);
}

void summary_read(const struct json *value, struct arena *arena, struct summary *ret_summary)
{
	*ret_summary = (struct summary){
		.state = read_summary_text(value, "state", arena),
		.roles = read_summary_text(value, "roles", arena),
		.message = read_summary_text(value, "message", arena),
		.running = read_summary_number(value, "running", 0),
		.wanted = read_summary_number(value, "wanted", 0),
		.restarts = read_summary_number(value, "restarts", 0),
		.exit_code = read_summary_number(value, "exitCode", -1),
		.is_finished = json_as_bool(json_get(value, "finished"), false),
		.start_time = json_as_time(json_get(value, "startTime")),
		.completion_time = json_as_time(json_get(value, "completionTime")),
		.expires_at = json_as_time(json_get(value, "expiresAt")),
	};
}

#include "core/check_job_end.h"

#include "core/check_words.h"
#include "core/failure_text.h"
#include "core/failure_words.h"

#include <string.h>

/* "errors_impl.UnavailableError: …": the head of a traceback may lie beyond the lines that are
 * kept. */
static bool is_exception(const char *line)
{
	size_t len = strcspn(line, ": ");
	static const char *const endings[] = {"Error", "Exception"};

	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t ending_len = strlen(endings[i]);

		if (line[len] == ':' && len > ending_len &&
		    !strncmp(line + len - ending_len, endings[i], ending_len))
			return true;
	}
	return false;
}

/* From the end, because what follows comes of what went before; NULL when no line is of that kind.
 */
static const char *find_last(const struct failure *failure, bool (*is_wanted)(const char *line))
{
	for (size_t i = failure->n_last_lines; i-- > 0;)
		if (is_wanted(failure->last_lines[i]))
			return failure->last_lines[i];
	return NULL;
}

static bool is_of_muster(const char *line)
{
	return text_starts_with(line, "muster");
}

static bool has_words(const char *line)
{
	return line[strspn(line, " \t")] != '\0';
}

/* The last line of a program that says more than the others: its exception, muster's own sentence,
 * else simply the last one. One that was killed could not say why. */
static const char *find_cause(const struct failure *failure)
{
	const char *cause = failure->signal ? NULL : failure_find_exception(failure);

	if (failure->signal || cause)
		return cause;
	cause = find_last(failure, is_exception);
	if (!cause)
		cause = find_last(failure, is_of_muster);
	return cause ? cause : find_last(failure, has_words);
}

static bool has_role(const struct failure *failure)
{
	return failure->role && failure->role[0];
}

static void keep_failure(struct check *check, struct check_job_record *record,
			 const struct failure *failure)
{
	record->failure =
		check_copy_words(check, failure->message ? failure->message : failure->reason);
	record->failed_at = failure->time;
	if (!has_role(failure))
		return;
	record->failed = arena_format(check->arena, "%s-%d", failure->role, failure->index);
	record->cause = check_copy_words(check, find_cause(failure));
	record->could_not_start = text_equals(failure->reason, FAILURE_START_FAILED);
}

/* A server that was told to end by somebody else ends with code 0, which is no failure to a job. */
static void keep_early_end(struct check *check, struct check_job_record *record,
			   const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->state != REPLICA_SUCCEEDED || record->failure)
			continue;
		record->failed = arena_format(check->arena, "%s-%d", replica->role, replica->index);
		record->failure =
			arena_format(check->arena, "%s was ended by somebody", record->failed);
		record->failed_at = replica->end_time;
	}
}

void check_note_failure(struct check *check, enum check_job job, const struct status *status,
			bool was_wanted)
{
	struct check_job_record *record = &check->jobs[job];
	const struct failure *failure = status->failure;

	if (failure && (has_role(failure) || was_wanted))
		keep_failure(check, record, failure);
	else if (job == CHECK_SERVERS_JOB)
		keep_early_end(check, record, status);
}

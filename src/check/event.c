#include "check/event.h"

#include "base/line_text.h"
#include "base/text.h"
#include "check/task.h"
#include "status/failure_words.h"

#include <math.h>
#include <string.h>

/* Longer texts are cut. */
#define WORDS_MOST 600

/* Removes colors and line feeds from otherwise safe text. */
static void make_plain(struct text *text)
{
	size_t len = 0;
	bool is_escape = false;

	for (size_t i = 0; i < text->len; i++) {
		char byte = text->bytes[i];

		if (byte == '\x1b')
			is_escape = true;
		else if (!is_escape)
			text->bytes[len++] = byte == '\n' || byte == '\t' ? ' ' : byte;
		else if (byte == 'm')
			is_escape = false;
	}
	if (text->bytes)
		text->bytes[len] = '\0';
	text->len = len;
}

/* A copy in the check's arena: one line of at most some hundred bytes, without colors and other
 * terminal control sequences. NULL gives NULL. */
static const char *check_copy_words(struct check *check, const char *words)
{
	struct text text CLEANUP(text_done) = {0};
	size_t len = words ? strlen(words) : 0;

	if (!words)
		return NULL;
	line_text_add_safe(&text, words,
			   len < WORDS_MOST ? len : line_text_whole_characters(words, WORDS_MOST));
	make_plain(&text);
	return arena_copy_text(check->arena, text_of(&text));
}

/* Most devices stored for one task. */
#define DEVICES_MOST 256
/* Most events accepted from a process, because they take memory. */
#define EVENTS_MOST 1000000

static const char *copy_event_text(struct check *check, const char *text)
{
	return arena_copy_text(check->arena, text);
}

static const char *string_of(const struct json *event, const char *key)
{
	return json_as_string(json_get(event, key), NULL);
}

/* Events of servers. */

static bool apply_serving_event(struct check *check, const char *from, const struct json *event)
{
	struct check_task *task = check_find_task(check, string_of(event, "task"));

	(void) from;
	if (!task || !string_of(event, "target"))
		return false;
	task->target = copy_event_text(check, string_of(event, "target"));
	task->version = copy_event_text(check, string_of(event, "version"));
	task->serving_seconds = json_as_real(json_get(event, "seconds"), 0);
	return true;
}

static bool apply_network_event(struct check *check, const char *from, const struct json *event)
{
	(void) from;
	return check_network_add(&check->network, event);
}

/* Events of the probe. */

/* A remote cluster's tasks become known here. */
static struct check_task *task_of(struct check *check, const struct json *event)
{
	const char *name = string_of(event, "task");

	if (!name)
		return NULL;
	return check->request.is_remote ? check_add_task(check, check_copy_words(check, name))
					: check_find_task(check, name);
}

static bool apply_devices_event(struct check *check, const char *from, const struct json *event)
{
	const struct json *list = json_get(event, "devices");
	struct check_task *task = task_of(check, event);
	size_t count = json_count(list) < DEVICES_MOST ? json_count(list) : DEVICES_MOST;

	(void) from;
	if (!task)
		return false;
	task->has_devices = true;
	task->n_devices = 0;
	task->devices = arena_take_array(check->arena, count, sizeof(*task->devices));
	for (size_t i = 0; i < count; i++) {
		const char *device = json_as_string(json_at(list, i), NULL);

		if (device)
			task->devices[task->n_devices++] = check_copy_words(check, device);
	}
	return true;
}

static bool apply_task_ran_event(struct check *check, const char *from, const struct json *event)
{
	struct check_task *task = task_of(check, event);

	(void) from;
	if (task)
		task->has_run = true;
	return task != NULL;
}

static bool apply_probe_error_event(struct check *check, const char *from, const struct json *event)
{
	const char *code = string_of(event, "code");
	const char *message = string_of(event, "message");

	(void) from;
	if (check->probe_error)
		return false;
	check->probe_error_step =
		text_equals(string_of(event, "step"), "session") ? CHECK_SESSION : CHECK_DEVICES;
	check->probe_error_task = copy_event_text(check, string_of(event, "task"));
	check->probe_error = check_copy_words(check, message ? message : "no reason given");
	check->probe_error_code = check_copy_words(check, code ? code : "no code");
	return true;
}

/* In the roll call only the answering tasks matter. */
static bool accept_answer_event(struct check *check, const char *from, const struct json *event)
{
	struct check_task *task = check_find_task(check, string_of(event, "task"));

	(void) from;
	if (task)
		task->has_answered = true;
	return task != NULL;
}

/* Events of models. */

static bool apply_dataset_event(struct check *check, const char *from, const struct json *event)
{
	(void) from;
	check->data_name = check_copy_words(check, string_of(event, "name"));
	check->data_source = check_copy_words(check, string_of(event, "source"));
	check->data_examples = json_as_integer(json_get(event, "examples"), 0);
	return true;
}

static bool apply_trainer_error(struct check *check, const char *from, const struct json *event)
{
	struct check_trainer *trainer = check_find_trainer(check, from);
	const char *message = string_of(event, "message");

	if (!trainer)
		return false;
	trainer->error = check_copy_words(check, message ? message : "no reason given");
	trainer->is_data_error = text_equals(string_of(event, "step"), "data");
	return true;
}

static bool apply_training_start(struct check *check, const char *from, const struct json *event)
{
	struct check_trainer *trainer = check_find_trainer(check, from);

	(void) event;
	if (trainer)
		trainer->has_started = true;
	return trainer != NULL;
}

static bool apply_training_end(struct check *check, const char *from, const struct json *event)
{
	struct check_trainer *trainer = check_find_trainer(check, from);

	(void) event;
	if (trainer)
		trainer->has_ended = true;
	return trainer != NULL;
}

/* The step counts all workers together; a slower worker reports an earlier one. */
static bool accept_step_event(struct check *check, const char *from, const struct json *event)
{
	struct check_trainer *trainer = check_find_trainer(check, from);
	int64_t step = json_as_integer(json_get(event, "step"), 0);

	if (!trainer)
		return false;
	trainer->step = step;
	if (step < check->step)
		return false;
	check->step = step;
	check->steps_wanted = json_as_integer(json_get(event, "of"), check->steps_wanted);
	check->loss = json_as_real(json_get(event, "loss"), NAN);
	return true;
}

static bool apply_result_event(struct check *check, const char *from, const struct json *event)
{
	(void) from;
	json_free(check->figures);
	check->figures = json_new_copy(event);
	json_remove(check->figures, "muster");
	return true;
}

/* Recognition of events. */

typedef bool (*take_fn)(struct check *check, const char *from, const struct json *event);

/* Each event is accepted only from the programs that send it. */
static const struct kind {
	const char *word;
	enum check_job job;
	take_fn take;
} kinds[] = {
	{"serving", CHECK_SERVERS_JOB, apply_serving_event},
	{"network", CHECK_SERVERS_JOB, apply_network_event},
	{"devices", CHECK_PROBE_JOB, apply_devices_event},
	{"ran", CHECK_PROBE_JOB, apply_task_ran_event},
	{"error", CHECK_PROBE_JOB, apply_probe_error_event},
	{"ran", CHECK_ROLL_CALL_JOB, accept_answer_event},
	{"data", CHECK_MODEL_JOB, apply_dataset_event},
	{"training-begins", CHECK_MODEL_JOB, apply_training_start},
	{"training-ends", CHECK_MODEL_JOB, apply_training_end},
	{"step", CHECK_MODEL_JOB, accept_step_event},
	{"result", CHECK_MODEL_JOB, apply_result_event},
	{"error", CHECK_MODEL_JOB, apply_trainer_error},
};

bool check_accept_event(struct check *check, enum check_job job, const char *from,
			const struct json *event)
{
	const char *word = string_of(event, "muster");

	if (check->n_events == EVENTS_MOST)
		return false;
	check->n_events++;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].job == job && text_equals(word, kinds[i].word))
			return kinds[i].take(check, from, event);
	return false;
}

/* Splits "worker-0 | rest"; returns false for another form. A piece of an overlong line (with '+')
 * contains no whole event. */
static bool split_line(const char *line, size_t len, struct text *from, const char **ret_rest)
{
	const char *sign = memchr(line, '|', len);
	size_t name_len = 0;

	while (name_len < len && line[name_len] != ' ')
		name_len++;
	if (!sign || sign < line + name_len || sign + 2 > line + len)
		return false;
	for (const char *blank = line + name_len; blank < sign; blank++)
		if (*blank != ' ')
			return false;
	text_add_bytes(from, line, name_len);
	*ret_rest = sign + 2;
	return true;
}

/* "muster: …" is a message of muster about a job. On this machine the first one is the reason and
 * the others are consequences. On a cluster it says what Pods wait for, and the last one is
 * current. */
static bool store_muster_message(struct check *check, enum check_job job, const char *line,
				 size_t len)
{
	static const char beginning[] = "muster: ";
	size_t skipped = sizeof(beginning) - 1;

	if (len <= skipped || memcmp(line, beginning, skipped) != 0)
		return false;
	char *words CLEANUP(mem_free_text) = mem_copy_bytes(line + skipped, len - skipped);

	if (!check->jobs[job].last_words || check->request.is_on_kubernetes)
		check->jobs[job].last_words = check_copy_words(check, words);
	return true;
}

bool check_accept_line(struct check *check, enum check_job job, const char *line, size_t len)
{
	static const char beginning[] = "{\"muster\"";
	struct text from CLEANUP(text_done) = {0};
	struct json *event CLEANUP(json_cleanup) = NULL;
	const char *rest;

	if (!split_line(line, len, &from, &rest)) {
		store_muster_message(check, job, line, len);
		return false;
	}
	size_t rest_len = len - (size_t) (rest - line);

	if (rest_len < sizeof(beginning) || memcmp(rest, beginning, sizeof(beginning) - 1) != 0)
		return false;
	if (json_read(rest, rest_len, &event, NULL) < 0)
		return false;
	return check_accept_event(check, job, text_of(&from), event);
}

/* Searches from the end, because later lines are more specific; NULL: none matches. */
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

/* The most informative line: the exception, muster's own message, else the last line. A killed
 * process could not print why. */
static const char *find_cause(const struct failure *failure)
{
	if (failure->signal)
		return NULL;
	if (failure->exception)
		return failure->exception;

	const char *cause = find_last(failure, is_of_muster);

	return cause ? cause : find_last(failure, has_words);
}

static bool has_role(const struct failure *failure)
{
	return failure->role && failure->role[0];
}

/* The job's status has times of the wall clock. */
static instant check_instant_of(const struct check *check, msec time)
{
	return instant_add(check->started, time - check->began);
}

static void store_check_failure(struct check *check, struct check_job_record *record,
				const struct failure *failure)
{
	record->failure =
		check_copy_words(check, failure->message ? failure->message : failure->reason);
	record->failed_at = check_instant_of(check, failure->time);
	if (!has_role(failure))
		return;
	record->failed = arena_format(check->arena, "%s-%d", failure->role, failure->index);
	record->cause = check_copy_words(check, find_cause(failure));
	record->could_not_start = text_equals(failure->reason, FAILURE_START_FAILED);
}

/* A server that another process stopped exits with code 0, which the job counts as no failure. */
static void store_early_replica_exit(struct check *check, struct check_job_record *record,
				     const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->state != REPLICA_SUCCEEDED || record->failure)
			continue;
		record->failed = arena_format(check->arena, "%s-%d", replica->role, replica->index);
		record->failure =
			arena_format(check->arena, "%s was stopped from outside", record->failed);
		record->failed_at = check_instant_of(check, replica->end_time);
	}
}

void check_record_failure(struct check *check, enum check_job job, const struct status *status,
			  bool was_wanted)
{
	struct check_job_record *record = &check->jobs[job];
	const struct failure *failure = status->failure;

	if (failure && (has_role(failure) || was_wanted))
		store_check_failure(check, record, failure);
	else if (job == CHECK_SERVERS_JOB)
		store_early_replica_exit(check, record, status);
}

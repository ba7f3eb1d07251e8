#include "check/event.h"

#include "base/line_text.h"
#include "check/network.h"
#include "status/failure_words.h"

/* Longer texts are cut. */
#define WORDS_MOST 600
/* Most elements of a list: the devices of a task. */
#define LIST_MOST 256
/* Most events accepted from a process, because they take memory. */
#define EVENTS_MOST 1000000
/* For a remote cluster, whose list of devices names its tasks. */
#define TASKS_MOST 1000

/* One line of at most some hundred bytes, without colors and other control sequences. */
static void add_safe_words(struct text *text, const char *words)
{
	size_t len = strlen(words);

	line_text_add_plain(text, words,
			    len < WORDS_MOST ? len : line_text_whole_characters(words, WORDS_MOST));
	for (size_t i = 0; i < text->len; i++)
		if (text->bytes[i] == '\n' || text->bytes[i] == '\t')
			text->bytes[i] = ' ';
}

/* A copy in the check's arena. NULL gives NULL. */
static const char *check_copy_words(struct check *check, const char *words)
{
	struct text text CLEANUP(text_done) = {0};

	if (!words)
		return NULL;
	add_safe_words(&text, words);
	return arena_copy_text(check->arena, text_of(&text));
}

/* A copy whose texts are safe and short. */
static struct json *copy_safe(const struct json *value)
{
	struct text text CLEANUP(text_done) = {0};
	struct json *copy = NULL, *member;
	const char *key = NULL;

	if (json_is(value, JSON_STRING)) {
		add_safe_words(&text, json_as_string(value, ""));
		return json_new_string(text_of(&text));
	}
	if (json_is(value, JSON_ARRAY)) {
		copy = json_new_array();
		for (size_t i = 0; i < json_count(value) && i < LIST_MOST; i++)
			json_append(copy, copy_safe(json_at(value, i)));
		return copy;
	}
	if (!json_is(value, JSON_OBJECT))
		return json_new_copy(value);
	copy = json_new_object();
	while (json_next(value, &key, &member))
		json_set(copy, key, copy_safe(member));
	return copy;
}

/* Events. */

enum subject { OF_TASK, OF_TRAINER, OF_TRAINING, OF_LINK, OF_PROBE, OF_DATA, OF_RESULT };

/* Each event is accepted only from the programs that send it. */
static const struct event_kind {
	const char *word;
	enum check_job job;
	enum subject subject;
	const char *members[4]; /* that are kept of it; the first one must be there… */
	enum json_type type; /* … and be of this type */
	const char *mark; /* what is now true of the subject */
} kinds[] = {
	{"serving", CHECK_SERVERS_JOB, OF_TASK, {"target", "version", "seconds"}, JSON_STRING, 0},
	{"network", CHECK_SERVERS_JOB, OF_LINK, {0}, 0, 0},
	{"devices", CHECK_PROBE_JOB, OF_TASK, {"devices"}, JSON_ARRAY, 0},
	{"ran", CHECK_PROBE_JOB, OF_TASK, {0}, 0, "ran"},
	{"error", CHECK_PROBE_JOB, OF_PROBE, {0}, 0, 0},
	/* In the roll call only the answering tasks matter. */
	{"ran", CHECK_ROLL_CALL_JOB, OF_TASK, {0}, 0, "answered"},
	/* PyTorch's processes test all by themselves. */
	{"network", CHECK_MODEL_JOB, OF_LINK, {0}, 0, 0},
	{"devices", CHECK_MODEL_JOB, OF_TASK, {"devices"}, JSON_ARRAY, 0},
	{"ran", CHECK_MODEL_JOB, OF_TASK, {"backend", "bandwidth"}, JSON_STRING, "ran"},
	{"data", CHECK_MODEL_JOB, OF_DATA, {0}, 0, 0},
	{"training-begins", CHECK_MODEL_JOB, OF_TRAINER, {0}, 0, "begins"},
	{"training-ends", CHECK_MODEL_JOB, OF_TRAINER, {0}, 0, "ends"},
	{"step", CHECK_MODEL_JOB, OF_TRAINING, {"step", "of", "loss"}, JSON_INTEGER, 0},
	{"error", CHECK_MODEL_JOB, OF_TRAINER, {"message", "step"}, JSON_STRING, 0},
	{"result", CHECK_MODEL_JOB, OF_RESULT, {0}, 0, 0},
};

/* A remote cluster's tasks become known by the probe. */
static struct json *task_of(const struct check *check, const struct event_kind *kind,
			    const struct json *event)
{
	const char *name = json_get_string(event, "task", NULL);
	bool is_added = check->request.is_remote && kind->job == CHECK_PROBE_JOB &&
			json_count(check->tasks) < TASKS_MOST;

	if (!name)
		return NULL;
	return is_added ? json_object_at(check->tasks, name) : json_get(check->tasks, name);
}

static bool add_facts(struct json *subject, const struct event_kind *kind, const struct json *event)
{
	if (!subject ||
	    (kind->members[0] && !json_is(json_get(event, kind->members[0]), kind->type)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(kind->members) && kind->members[i]; i++)
		json_copy_member(subject, event, kind->members[i]);
	if (kind->mark)
		json_set_bool(subject, kind->mark, true);
	return true;
}

/* The step counts all workers together; a slower worker reports an earlier one. */
static bool is_later_step(const struct check *check, const char *from, const struct json *event)
{
	return json_get(check->trainers, from) &&
	       json_as_integer(json_get(event, "step"), 0) >=
		       json_as_integer(json_get(check->training, "step"), 0);
}

static bool keep_event(struct json **kept, const struct json *event)
{
	json_free(*kept);
	*kept = json_new_copy(event);
	json_remove(*kept, "muster");
	return true;
}

static bool accept_event(struct check *check, const struct event_kind *kind, const char *from,
			 const struct json *event)
{
	switch (kind->subject) {
	case OF_TASK:
		return add_facts(task_of(check, kind, event), kind, event);
	case OF_TRAINER:
		return add_facts(json_get(check->trainers, from), kind, event);
	case OF_TRAINING:
		return is_later_step(check, from, event) && add_facts(check->training, kind, event);
	case OF_LINK:
		return check_network_add(check->links, event);
	case OF_PROBE:
		return !check->probe_error && keep_event(&check->probe_error, event);
	case OF_DATA:
		return keep_event(&check->data, event);
	case OF_RESULT:
		return keep_event(&check->figures, event);
	}
	return false;
}

bool check_accept_event(struct check *check, enum check_job job, const char *from,
			const struct json *event)
{
	const char *word = json_get_string(event, "muster", NULL);

	if (check->n_events == EVENTS_MOST)
		return false;
	check->n_events++;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].job != job || !text_equals(word, kinds[i].word))
			continue;
		struct json *safe CLEANUP(json_cleanup) = copy_safe(event);

		return accept_event(check, &kinds[i], from, safe);
	}
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

/* "muster: …" is a message of muster about a job. On this machine the first one is the reason of
 * the others. On a cluster it says what Pods wait for, and the last one is current. */
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

void check_record_failure(struct check *check, enum check_job job, const struct status *status,
			  bool was_wanted)
{
	struct check_job_record *record = &check->jobs[job];
	const struct failure *failure = status->failure;

	if (failure && (has_role(failure) || was_wanted))
		store_check_failure(check, record, failure);
	if (failure || job != CHECK_SERVERS_JOB)
		return;
	/* A server that another process stopped exits with code 0, which the job counts as no
	 * failure. */
	for (size_t i = 0; i < status->n_replicas && !record->failure; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->state != REPLICA_SUCCEEDED)
			continue;
		record->failed = arena_format(check->arena, "%s-%d", replica->role, replica->index);
		record->failure =
			arena_format(check->arena, "%s was stopped from outside", record->failed);
		record->failed_at = check_instant_of(check, replica->end_time);
	}
}

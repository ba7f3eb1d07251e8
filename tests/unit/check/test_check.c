/* Transcripts of checks: what the jobs print and how they end goes in, with the time; which jobs
 * are wanted is compared on the way, and the report in each format at the end.
 *
 * tests/golden/check/NAME.transcript, whose lines are
 *
 *     request MODEL [workers N] [ps N] [timeout SECONDS] [sync] [setup] [data] [remote URL]
 *             [kubernetes] [torch]
 *     as NAME N                         the next N lines are those of that transcript
 *     TIME library WORDS                    TIME data WORDS       (milliseconds)
 *     TIME no-library WORDS                 TIME no-data WORDS
 *     TIME no-program                       … and that its program could not be started
 *     TIME wants JOB…                   exactly these should run now; JOB: servers probe model
 *                                       roll-call
 *     TIME wakes MOMENT                 when it wants to look again
 *     TIME started JOB
 *     TIME JOB LINE                     the job prints it
 *     TIME here EVENT                   found out by muster itself
 *     TIME failed REPLICA AT WORDS      what the status of the next job that ends will tell
 *     TIME said WORDS                   … and a last line of that replica
 *     TIME finished REPLICA AT          … or that it ended with code 0
 *     TIME ended JOB CODE
 *     TIME stopped JOB REPLICA          its process is found stopped
 *     TIME interrupt SIGNAL
 *     TIME look
 *     TIME over CODE
 *
 * Beside it lies NAME.text, and of some stories NAME.json; what the JSON of the others says is
 * compared with the text. With MUSTER_WRITE_GOLDEN in the environment the files are
 * written anew. */
#include "unit_json.h"

#include "base/mem.h"
#include "base/text.h"
#include "check/check.h"
#include "check/report.h"
#include "status/exception.h"
#include "status/failure_words.h"

#include <stdio.h>

static const char *const job_words[CHECK_JOB_COUNT] = {"servers", "probe", "model", "roll-call"};

struct story {
	const char *name;
	struct arena *arena;
	struct check_request request;
	struct check check;
	bool has_started;
	/* Of the status that the next job ends with. */
	struct failure failure;
	const char *said[8];
	struct replica_status finished;
	const char *place; /* "name:3", for messages */
};

static enum check_job job_of(const struct story *story, const char *word)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (text_equals(word, job_words[job]))
			return job;
	fail_msg("%s: no job '%s'", story->place, word);
	return CHECK_JOB_COUNT;
}

/* The next word of the rest of a line; "" behind the last. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " ");
	size_t len = strcspn(word, " ");

	*rest = word[len] ? word + len + 1 : word + len;
	word[len] = '\0';
	return word;
}

static void read_request(struct story *story, char *rest)
{
	struct check_request *request = &story->request;
	struct text faults CLEANUP(text_done) = {0};
	const char *model = next_word(&rest);

	*request = (struct check_request){
		.name = "check-x1y2z", .workers = 2, .ps = 2, .timeout = 120 * MSEC_PER_SECOND};
	for (enum check_model i = 0; i < CHECK_MODEL_COUNT; i++)
		if (text_equals(model, check_model_words[i]))
			request->model = i;
	for (char *word; *(word = next_word(&rest));) {
		if (text_equals(word, "workers"))
			request->workers = atoi(next_word(&rest));
		else if (text_equals(word, "ps"))
			request->ps = atoi(next_word(&rest));
		else if (text_equals(word, "timeout"))
			request->timeout = atoi(next_word(&rest)) * MSEC_PER_SECOND;
		else if (text_equals(word, "sync"))
			request->is_sync = true;
		else if (text_equals(word, "setup"))
			request->is_setup_only = true;
		else if (text_equals(word, "data"))
			request->data_dir = "/data/mnist";
		else if (text_equals(word, "torch"))
			request->is_for_torch = true;
		else if (text_equals(word, "kubernetes"))
			request->is_on_kubernetes = true;
		else if (text_equals(word, "remote")) {
			request->is_remote = true;
			request->servers = check_servers_read(next_word(&rest), story->arena, "",
							      &faults, &request->n_servers);
		} else {
			fail_msg("%s: no request '%s'", story->place, word);
		}
	}
}

static void set_replica(struct story *story, const char *name, const char **ret_role,
			int *ret_index)
{
	char *role = arena_copy_text(story->arena, name);
	char *dash = strrchr(role, '-');

	*dash = '\0';
	*ret_role = role;
	*ret_index = atoi(dash + 1);
}

static void fail_replica(struct story *story, char *rest)
{
	set_replica(story, next_word(&rest), &story->failure.role, &story->failure.index);
	story->failure.time = atoll(next_word(&rest));
	story->failure.message = arena_copy_text(story->arena, rest);
	story->failure.last_lines = story->said;
}

/* As the reconciler notes it. */
static void note_said(struct story *story, const char *line)
{
	struct failure *failure = &story->failure;

	story->said[failure->n_last_lines++] = arena_copy_text(story->arena, line);
	const struct printed printed = {.lines = story->said, .count = failure->n_last_lines};

	failure->exception = exception_find(&printed, story->arena);
}

static void finish_replica(struct story *story, char *rest)
{
	set_replica(story, next_word(&rest), &story->finished.role, &story->finished.index);
	story->finished.end_time = atoll(next_word(&rest));
	story->finished.state = REPLICA_SUCCEEDED;
}

static void end_job(struct story *story, char *rest, msec now)
{
	enum check_job job = job_of(story, next_word(&rest));
	const struct status status = {
		.failure = story->failure.message ? &story->failure : NULL,
		.replicas = &story->finished,
		.n_replicas = story->finished.role ? 1 : 0,
	};

	check_job_ended(&story->check, job, atoi(rest), &status, moment(now));
	story->failure = (struct failure){0};
	story->finished = (struct replica_status){0};
}

static void compare_wants(const struct story *story, const char *rest)
{
	struct text text CLEANUP(text_done) = {0};

	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (check_wants(&story->check, job) && !story->check.jobs[job].has_ended)
			text_addf(&text, "%s%s", text.len ? " " : "", job_words[job]);
	if (!text_equals(text_of(&text), rest))
		fail_msg("%s: wants '%s'", story->place, text_of(&text));
}

static void compare_number(const struct story *story, const char *expected, int64_t number)
{
	if (atoll(expected) != number)
		fail_msg("%s: is %lld", story->place, (long long) number);
}

static void hear_of_itself(struct story *story, const char *rest, msec now)
{
	struct json *event CLEANUP(json_cleanup) = json_of(rest);

	check_add_event(&story->check, event, moment(now));
}

static void note_stopped(struct story *story, char *rest)
{
	enum check_job job = job_of(story, next_word(&rest));

	check_record_stopped(&story->check, job, rest, true);
}

static void take(struct story *story, msec now, const char *word, char *rest)
{
	struct check *check = &story->check;

	if (text_equals(word, "library"))
		check_record_found(check, CHECK_LIBRARY, rest, moment(now));
	else if (text_equals(word, "no-library"))
		check_refuse(check, CHECK_LIBRARY, rest, moment(now));
	else if (text_equals(word, "data"))
		check_record_found(check, CHECK_DATA, rest, moment(now));
	else if (text_equals(word, "no-data"))
		check_refuse(check, CHECK_DATA, rest, moment(now));
	else if (text_equals(word, "wants"))
		compare_wants(story, rest);
	else if (text_equals(word, "wakes"))
		compare_number(story, rest, check_wake_at(check).since_boot);
	else if (text_equals(word, "started"))
		check_job_started(check, job_of(story, rest), moment(now));
	else if (text_equals(word, "here"))
		hear_of_itself(story, rest, now);
	else if (text_equals(word, "failed"))
		fail_replica(story, rest);
	else if (text_equals(word, "no-program"))
		story->failure.reason = FAILURE_START_FAILED;
	else if (text_equals(word, "said"))
		note_said(story, rest);
	else if (text_equals(word, "finished"))
		finish_replica(story, rest);
	else if (text_equals(word, "ended"))
		end_job(story, rest, now);
	else if (text_equals(word, "stopped"))
		note_stopped(story, rest);
	else if (text_equals(word, "interrupt"))
		check_interrupt(check, atoi(rest), moment(now));
	else if (text_equals(word, "look"))
		check_look(check, moment(now));
	else if (text_equals(word, "over")) {
		assert_true(check_is_over(check));
		compare_number(story, rest, check_exit_code(check));
	} else
		check_add_line(check, job_of(story, word), rest, strlen(rest), moment(now));
}

static void play_file(struct story *story, const char *name, int n_lines);

static void play_line(struct story *story, char *line)
{
	char *rest = line;
	char *first = next_word(&rest);

	if (!*first || *first == '#')
		return;
	if (text_equals(first, "as")) {
		char *name = next_word(&rest);

		play_file(story, name, atoi(rest));
		return;
	}
	if (text_equals(first, "request")) {
		read_request(story, rest);
		check_init(&story->check, &story->request, moment(0));
		return;
	}
	char *word = next_word(&rest);

	take(story, atoll(first), word, rest);
}

/* Files. */

static bool read_file(const char *path, struct text *text)
{
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	for (int byte; (byte = fgetc(file)) != EOF;)
		text_add_char(text, (char) byte);
	fclose(file);
	return true;
}

static void write_file(const char *path, const struct text *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text_of(text), 1, text->len, file), text->len);
	fclose(file);
}

static void compare_golden(const char *name, const char *ending, const struct text *text)
{
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/check/%s.%s", GOLDEN_FOLDER, name, ending);
	struct text golden CLEANUP(text_done) = {0};

	if (getenv("MUSTER_WRITE_GOLDEN"))
		write_file(path, text);
	if (!read_file(path, &golden))
		fail_msg("no golden file %s", path);
	assert_string_equal(text_of(text), text_of(&golden));
}

static void add_text_report(const struct check *check, bool is_verbose, struct text *text)
{
	const struct check_style style = {.is_verbose = is_verbose};

	check_add_heading(check, text);
	for (enum check_step step = 0; step < CHECK_STEP_COUNT; step++)
		if (check->steps[step].state == CHECK_PASSED ||
		    check->steps[step].state == CHECK_FAILED)
			check_add_step(check, step, &style, text);
	check_add_end(check, &style, text);
}

/* All that the text says, in its order, and besides it only rows of the network. */
static void compare_verbose(const struct text *plain, const struct text *verbose)
{
	const char *rest = text_of(plain);

	for (const char *line = text_of(verbose), *end; (end = strchr(line, '\n'));
	     line = end + 1) {
		size_t len = (size_t) (end + 1 - line);

		if (!strncmp(line, rest, len))
			rest += len;
		else
			assert_memory_equal(line, "  ", 2);
	}
	assert_string_equal(rest, "");
}

/* What JSON says of a step or fault stands in the text, too. */
static void assert_says(const struct text *text, const struct json *object, const char *key)
{
	const char *words = json_as_string(json_get(object, key), "");

	if (!strstr(text_of(text), words))
		fail_msg("the text does not say '%s'", words);
}

static void compare_json_with_text(const struct json *report, const struct text *text)
{
	const struct json *steps = json_get(report, "steps"), *fault = json_get(report, "fault");

	assert_int_equal(json_count(steps), CHECK_STEP_COUNT);
	for (size_t i = 0; i < json_count(steps); i++) {
		const struct json *step = json_at(steps, i);
		const char *state = json_as_string(json_get(step, "state"), "");

		if (!text_equals(state, "skipped"))
			assert_says(text, step, "name");
		if (text_equals(state, "passed") || text_equals(state, "failed"))
			assert_says(text, step, "message");
	}
	assert_says(text, report, "result");
	assert_says(text, fault, "message");
	if (text_equals(json_as_string(json_get(report, "result"), ""), "failed"))
		assert_says(text, fault, "advice");
	assert_says(text, fault, "job");
}

/* Stories whose JSON is kept, too. */
static bool has_json(const char *name)
{
	static const char *const names[] = {"mnist_passes", "remote_passes", "unreachable_server",
					    "server_killed_in_training", "hostile_lines"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text_equals(names[i], name))
			return true;
	return false;
}

#define ROW_LENGTH 160

/* A value that fits into a row stands in one; of any other, each member begins one. */
static void add_rows(struct text *text, const struct json *value, int depth)
{
	struct text row CLEANUP(text_done) = {0};
	bool is_list = json_is(value, JSON_ARRAY);
	const char *key = NULL, *separator = "\n";
	struct json *member;

	json_add_compact(&row, value);
	if (row.len <= ROW_LENGTH) {
		text_add(text, text_of(&row));
		return;
	}
	text_add_char(text, is_list ? '[' : '{');
	for (size_t i = 0; is_list ? i < json_count(value) : json_next(value, &key, &member); i++) {
		text_addf(text, "%s%*s", separator, 2 * (depth + 1), "");
		if (!is_list)
			text_addf(text, "\"%s\": ", key);
		add_rows(text, is_list ? json_at(value, i) : member, depth + 1);
		separator = ",\n";
	}
	text_addf(text, "\n%*s%c", 2 * depth, "", is_list ? ']' : '}');
}

static void compare_reports(const struct story *story)
{
	struct text plain CLEANUP(text_done) = {0}, verbose CLEANUP(text_done) = {0};
	struct text json CLEANUP(text_done) = {0};
	struct json *object CLEANUP(json_cleanup) = check_write_json(&story->check);

	add_text_report(&story->check, false, &plain);
	add_text_report(&story->check, true, &verbose);
	add_rows(&json, object, 0);
	text_add_char(&json, '\n');
	compare_golden(story->name, "text", &plain);
	compare_json_with_text(object, &plain);
	if (has_json(story->name))
		compare_golden(story->name, "json", &json);
	compare_verbose(&plain, &verbose);
}

/* The first lines of a transcript after its request; all of it, with the request, if `n_lines` is
 * 0. */
static void play_file(struct story *story, const char *name, int n_lines)
{
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/check/%s.transcript", GOLDEN_FOLDER, name);
	struct text text CLEANUP(text_done) = {0};
	int number = 0, n_left = n_lines;

	if (!read_file(path, &text))
		fail_msg("no transcript %s", path);
	for (char *line = text.bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		story->place = arena_format(story->arena, "%s:%d", name, ++number);
		if (n_lines && text_starts_with(line, "request"))
			continue;
		if (n_lines && n_left-- == 0)
			return;
		play_line(story, line);
	}
}

static void play(void **state)
{
	struct story story = {.name = *state, .arena = arena_new()};

	play_file(&story, story.name, 0);
	assert_true(check_is_over(&story.check));
	compare_reports(&story);
	check_done(&story.check);
	arena_free(story.arena);
}

#define STORY(name)                                                                                \
	{                                                                                          \
		name, play, NULL, NULL, (void *) (name)                                            \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORY("mnist_passes"),
		STORY("none_passes"),
		STORY("mwms_waits_until_the_servers_have_gone"),
		STORY("torch_passes"),
		STORY("torch_link_fails"),
		STORY("torch_without_training"),
		STORY("torch_is_silent"),
		STORY("ps2_trains_by_its_chief"),
		STORY("remote_passes"),
		STORY("kubernetes_passes"),
		STORY("kubernetes_has_no_room"),
		STORY("kubernetes_image_without_server"),
		STORY("kubernetes_servers_that_exist"),
		STORY("setup_leaves_the_servers_up"),
		STORY("no_library"),
		STORY("no_data"),
		STORY("port_in_use"),
		STORY("server_is_too_slow"),
		STORY("unreachable_server"),
		STORY("remote_silent_server"),
		STORY("remote_wrong_port"),
		STORY("remote_too_few_workers"),
		STORY("devices_fail"),
		STORY("session_fails"),
		STORY("session_differs"),
		STORY("server_killed_in_training"),
		STORY("server_killed_told_late"),
		STORY("server_ended_in_training"),
		STORY("server_stopped_in_training"),
		STORY("worker_raises"),
		STORY("exception_without_head"),
		STORY("data_are_wrong"),
		STORY("training_never_ends"),
		STORY("server_hangs_in_training"),
		STORY("worker_ends_early"),
		STORY("result_is_bad"),
		STORY("result_is_not_judged"),
		STORY("no_result"),
		STORY("ps2_server_killed"),
		STORY("worker_stopped_in_mwms"),
		STORY("interrupted"),
		STORY("job_cannot_begin"),
		STORY("hostile_lines"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

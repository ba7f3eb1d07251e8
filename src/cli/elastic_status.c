#include "cli/elastic_status.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/watch.h"
#include "command/command.h"
#include "command/output.h"
#include "command/table.h"
#include "io/own_process.h"
#include "io/terminal.h"
#include "reconcile/failure_text.h"
#include "rendezvous/rendezvous.h"

#include <inttypes.h>
#include <unistd.h>

static const char *elastic_string_of(const struct json *object, const char *key)
{
	return json_get_string(object, key, "");
}

static int64_t number_at(const struct json *object, const char *key)
{
	return json_as_integer(json_get(object, key), 0);
}

static msec time_at(const struct json *object, const char *key)
{
	return json_as_time(json_get(object, key));
}

/* Whether it is closed: nothing more will change. */
static bool elastic_text_is_over(const struct json *job)
{
	return text_equals(elastic_string_of(job, "phase"),
			   rendezvous_phase_words[RENDEZVOUS_CLOSED]);
}

/* "running", or for a finished job "succeeded". */
static const char *elastic_state_of(const struct json *job)
{
	return elastic_text_is_over(job) ? elastic_string_of(job, "verdict")
					 : elastic_string_of(job, "phase");
}

/* The machines that train, if the job is active. */
static int64_t count_machines(const struct json *job)
{
	const struct json *members = json_get(job, "members");
	int64_t count = 0;

	for (size_t i = 0; i < json_count(members); i++)
		count += json_get(json_at(members, i), "rank") != NULL;
	return count;
}

/* The same as one line that changes whenever the job changes. */
static void elastic_text_add_line(const struct json *job, struct text *text)
{
	int64_t restarts = number_at(job, "restarts"), machines = count_machines(job);
	const char *name = elastic_string_of(job, "name"), *state = elastic_state_of(job);

	/* The server's words: line ends in them would begin a line of ours. */
	line_text_add_sentence(text, name, strlen(name));
	text_add(text, ": ");
	line_text_add_sentence(text, state, strlen(state));
	if (!elastic_text_is_over(job))
		text_addf(text, ", %" PRId64 " machine%s (%" PRId64 " to %" PRId64 ")", machines,
			  machines == 1 ? "" : "s", number_at(job, "min"), number_at(job, "max"));
	text_addf(text, ", world %" PRId64 ", %" PRId64 " restart%s", number_at(job, "generation"),
		  restarts, restarts == 1 ? "" : "s");
	if (number_at(job, "progress"))
		text_addf(text, ", step %" PRId64, number_at(job, "progress"));
	text_add_char(text, '\n');
}

static void add_number_cell(const struct json *member, const char *key, struct table *table)
{
	if (json_get(member, key))
		table_addf(table, "%" PRId64, number_at(member, key));
	else
		table_add(table, NULL);
}

/* The member's activity, by the order it was given. */
static const char *activity_of(const struct json *member)
{
	const char *order = elastic_string_of(member, "order");

	if (text_equals(order, rendezvous_order_words[RENDEZVOUS_RUN]))
		return "training";
	if (text_equals(order, rendezvous_order_words[RENDEZVOUS_GO]))
		return "leaving";
	return json_as_bool(json_get(member, "isSetAside"), false) ? "set aside" : "waiting";
}

static void add_members(const struct json *job, struct text *text)
{
	static const char *const headings[] = {"RANK", "MACHINE", "STATE", "PROCESSES", "MEMBER"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};
	const struct json *members = json_get(job, "members");

	if (!json_count(members))
		return;
	table_add_row(&table, headings);
	for (size_t i = 0; i < json_count(members); i++) {
		const struct json *member = json_at(members, i);

		add_number_cell(member, "rank", &table);
		table_add(&table, elastic_string_of(member, "host"));
		table_add(&table, activity_of(member));
		add_number_cell(member, "processes", &table);
		table_add(&table, elastic_string_of(member, "id"));
	}
	text_add_char(text, '\n');
	table_write(&table, text);
}

/* A failed process and a lost machine are named in the failure of the previous world. */
static void add_reason(const struct json *world, const struct json *before, struct table *table)
{
	const char *reason = elastic_string_of(world, "reason");
	const char *failure = json_get_string(before, "failure", NULL);
	bool is_failure = text_equals(reason, world_reason_words[WORLD_WORKER_FAILED]) ||
			  text_equals(reason, world_reason_words[WORLD_LOST_MEMBER]);

	int index = name_find_word(world_reason_words, WORLD_REASON_COUNT, reason);

	if (index >= 0)
		reason = world_reason_sentences[index];
	table_add(table, is_failure && failure ? failure : reason);
}

static void add_worlds(const struct json *job, bool is_local, struct text *text)
{
	static const char *const headings[] = {"WORLD", "STARTED", "LASTED", "MACHINES", "REASON"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};
	const struct json *worlds = json_get(job, "worlds");
	msec end = time_at(job, elastic_text_is_over(job) ? "endedAt" : "now");

	if (!json_count(worlds))
		return;
	table_add_row(&table, headings);
	for (size_t i = 0; i < json_count(worlds); i++) {
		const struct json *world = json_at(worlds, i), *next = json_at(worlds, i + 1);
		msec begin = time_at(world, "formedAt");

		table_addf(&table, "%" PRId64, number_at(world, "generation"));
		table_add_time(&table, begin - begin % MSEC_PER_SECOND, is_local);
		table_add_span(&table, begin, next ? time_at(next, "formedAt") : end);
		table_addf(&table, "%" PRId64, number_at(world, "members"));
		add_reason(world, i ? json_at(worlds, i - 1) : NULL, &table);
	}
	text_add_char(text, '\n');
	table_write(&table, text);
}

/* For a job that has succeeded it no longer matters. */
static void add_elastic_failure(const struct json *job, bool is_local, struct text *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	bool has_succeeded = text_equals(elastic_string_of(job, "verdict"),
					 rendezvous_verdict_words[RENDEZVOUS_SUCCEEDED]);
	struct status status = {0};

	if (has_succeeded ||
	    status_failure_read(json_get(job, "failure"), arena, &status.failure, NULL) < 0)
		return;
	const struct failure_style style = {
		.offset = is_local ? time_zone_offset(status.failure->time) : 0};

	text_add(text,
		 elastic_text_is_over(job) ? "\nFailure:\n" : "\nCause of the last restart:\n");
	failure_describe(&status, status.failure->machine_job, &style, text);
}

/* A table of all jobs of a server. */
static void elastic_text_add_list(const struct json *jobs, struct text *text)
{
	static const char *const headings[] = {"JOB",   "STATE",    "MACHINES",
					       "WORLD", "RESTARTS", "AGE"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};

	table_add_row(&table, headings);
	for (size_t i = 0; i < json_count(jobs); i++) {
		const struct json *job = json_at(jobs, i);

		table_add(&table, elastic_string_of(job, "name"));
		table_add(&table, elastic_state_of(job));
		table_addf(&table, "%" PRId64, number_at(job, "members"));
		table_addf(&table, "%" PRId64, number_at(job, "generation"));
		table_addf(&table, "%" PRId64, number_at(job, "restarts"));
		table_add_span(&table, time_at(job, "createdAt"), time_at(job, "now"));
	}
	table_write(&table, text);
}

struct look {
	const struct options *options;
	struct rendezvous_asker asker;
	const char *job; /* NULL: all of them */
	struct text last; /* the last output */
};

static void elastic_status_done(struct look *look)
{
	rendezvous_asker_done(&look->asker);
	text_done(&look->last);
}

static void request_elastic_status(void *data)
{
	struct look *look = data;

	if (look->job)
		rendezvous_asker_read(&look->asker, look->job);
	else
		rendezvous_asker_request(&look->asker, "/v1/jobs", NULL, 0);
}

static void show_elastic_status(struct look *look, const struct json *object)
{
	const char *format = option_text(look->options, "output");
	bool is_local = times_are_local(look->options);
	bool is_watched = option_flag(look->options, "watch");
	bool is_drawn = is_watched && terminal_understands_escapes(STDOUT_FILENO);
	bool is_over = !is_watched || elastic_text_is_over(object);
	struct text text CLEANUP(text_done) = {0}, screen CLEANUP(text_done) = {0};

	if (text_equals(format, "json") || text_equals(format, "yaml")) {
		output_add_object(object, format);
	} else if (!look->job) {
		elastic_text_add_list(json_get(object, "jobs"), &text);
	} else {
		elastic_text_add_line(object, &text);
		if (!is_watched || is_drawn) {
			add_members(object, &text);
			add_worlds(object, is_local, &text);
			add_elastic_failure(object, is_local, &text);
		}
	}
	if (is_drawn)
		redraw_add(text_of(&text), is_over, &screen);
	is_over |= output_add_changed(is_drawn ? &screen : &text,
				      is_drawn ? output_add_screen : output_add, &look->last);
	if (is_over)
		rendezvous_asker_end(&look->asker, EXIT_DONE);
	else
		rendezvous_asker_again(&look->asker);
}

static void on_elastic_status_answer(int status, const struct json *answer, void *data)
{
	struct look *look = data;

	if (status == 200 && answer)
		show_elastic_status(look, answer);
	else
		rendezvous_asker_refuse(&look->asker, status, answer);
}

/* Reads the command line. */
static void read_elastic_call(struct look *look, struct text *faults)
{
	const char *format = option_text(look->options, "output");
	bool is_watched = option_flag(look->options, "watch");

	rendezvous_endpoint_read(option_text(look->options, "rdzv-endpoint"), &look->asker.endpoint,
				 faults);
	rendezvous_endpoint_read_trust(look->options, false, &look->asker.endpoint, faults);
	look->job = options_arguments(look->options)[0];
	if (options_n_arguments(look->options) > 1)
		text_add(faults, "--rdzv-endpoint: takes one job only\n");
	if (look->job && !(*look->job && name_is_label_value(look->job)))
		text_addf(faults, "'%s' is not the id of a job\n", look->job);
	if (text_equals(format, "name"))
		text_add(faults, "--output: json, yaml or wide with --rdzv-endpoint\n");
	if (is_watched && (!look->job || format))
		text_add(faults, "--watch: follows one job, as text, with --rdzv-endpoint\n");
}

int elastic_status(const struct options *options)
{
	struct look look CLEANUP(elastic_status_done) = {.options = options};
	struct text faults CLEANUP(text_done) = {0};

	look.asker.ask = request_elastic_status;
	look.asker.on_answer = on_elastic_status_answer;
	look.asker.data = &look;
	read_elastic_call(&look, &faults);
	return rendezvous_asker_run(&look.asker, options, &faults);
}

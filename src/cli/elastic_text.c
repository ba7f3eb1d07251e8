#include "cli/elastic_text.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "command/table.h"
#include "io/own_process.h"
#include "reconcile/failure_text.h"
#include "rendezvous/rendezvous.h"

#include <inttypes.h>
#include <string.h>

static const char *elastic_string_of(const struct json *object, const char *key)
{
	return json_as_string(json_get(object, key), "");
}

static int64_t number_at(const struct json *object, const char *key)
{
	return json_as_integer(json_get(object, key), 0);
}

static msec time_at(const struct json *object, const char *key)
{
	return json_as_time(json_get(object, key));
}

static void add_span(struct table *table, msec from, msec to)
{
	struct text span CLEANUP(text_done) = {0};

	if (from != MSEC_UNSET && to != MSEC_UNSET)
		text_add_duration(&span, to > from ? to - from : 0);
	table_add(table, text_of(&span));
}

static void add_moment(struct table *table, msec moment, bool is_local)
{
	struct text time CLEANUP(text_done) = {0};

	if (moment != MSEC_UNSET)
		text_add_time_ahead(&time, moment - moment % MSEC_PER_SECOND,
				    is_local ? time_zone_offset(moment) : 0);
	table_add(table, text_of(&time));
}

bool elastic_text_is_over(const struct json *job)
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

/* The server's; its line ends would begin a line of ours. */
static void add_server_word(const char *word, struct text *text)
{
	line_text_add_sentence(text, word, strlen(word));
}

void elastic_text_add_line(const struct json *job, struct text *text)
{
	int64_t restarts = number_at(job, "restarts"), machines = count_machines(job);

	add_server_word(elastic_string_of(job, "name"), text);
	text_add(text, ": ");
	add_server_word(elastic_state_of(job), text);
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

static const char *reason_sentence_of(const char *reason)
{
	for (size_t i = 0; i < WORLD_REASON_COUNT; i++)
		if (text_equals(reason, world_reason_words[i]))
			return world_reason_sentences[i];
	return reason;
}

/* A failed process and a lost machine are named in the failure of the previous world. */
static void add_reason(const struct json *world, const struct json *before, struct table *table)
{
	const char *reason = elastic_string_of(world, "reason");
	const char *failure = json_as_string(json_get(before, "failure"), NULL);
	bool is_failure = text_equals(reason, world_reason_words[WORLD_WORKER_FAILED]) ||
			  text_equals(reason, world_reason_words[WORLD_LOST_MEMBER]);

	if (is_failure && failure)
		table_add(table, failure);
	else
		table_add(table, reason_sentence_of(reason));
}

static void add_world(const struct json *worlds, size_t i, msec end, bool is_local,
		      struct table *table)
{
	const struct json *world = json_at(worlds, i), *next = json_at(worlds, i + 1);
	msec begin = time_at(world, "formedAt");

	table_addf(table, "%" PRId64, number_at(world, "generation"));
	add_moment(table, begin, is_local);
	add_span(table, begin, next ? time_at(next, "formedAt") : end);
	table_addf(table, "%" PRId64, number_at(world, "members"));
	add_reason(world, i ? json_at(worlds, i - 1) : NULL, table);
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
	for (size_t i = 0; i < json_count(worlds); i++)
		add_world(worlds, i, end, is_local, &table);
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

void elastic_text_add(const struct json *job, bool is_local, struct text *text)
{
	elastic_text_add_line(job, text);
	add_members(job, text);
	add_worlds(job, is_local, text);
	add_elastic_failure(job, is_local, text);
}

void elastic_text_add_list(const struct json *jobs, struct text *text)
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
		add_span(&table, time_at(job, "createdAt"), time_at(job, "now"));
	}
	table_write(&table, text);
}

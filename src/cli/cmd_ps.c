/* muster ps: the jobs of this user on this machine. */
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "io/loop.h"

#include <stdlib.h>

struct rows {
	struct client_row *list;
	size_t count;
};

static void rows_done(struct rows *rows)
{
	client_rows_free(rows->list, rows->count);
}

static bool is_shown(const struct options *options, const struct client_row *row)
{
	return option_flag(options, "all") || !row->is_finished;
}

static void add_exit_code(struct table *table, const struct client_row *row)
{
	if (row->exit_code >= 0)
		table_addf(table, "%d", row->exit_code);
	else
		table_add(table, NULL);
}

static void add_start_time(struct table *table, const struct client_row *row)
{
	struct text time CLEANUP(text_done) = {0};

	if (row->start_time != MSEC_UNSET)
		text_add_time(&time, row->start_time);
	table_add(table, text_of(&time));
}

static void add_row(struct table *table, const struct client_row *row, bool is_wide, msec now)
{
	struct text age CLEANUP(text_done) = {0};

	text_add_duration(&age, now > row->created ? now - row->created : 0);
	table_add(table, row->name);
	table_add(table, row->state);
	table_add(table, row->roles);
	table_addf(table, "%d/%d", row->running, row->wanted);
	table_addf(table, "%d", row->restarts);
	table_add(table, text_of(&age));
	if (!is_wide)
		return;
	add_exit_code(table, row);
	add_start_time(table, row);
	table_add(table, row->message);
}

static void print_table(const struct options *options, const struct rows *rows, bool is_wide)
{
	static const char *const headings[] = {"NAME", "STATE", "ROLES",   "RUNNING", "RESTARTS",
					       "AGE",  "EXIT",  "STARTED", "MESSAGE"};
	struct table table CLEANUP(table_done) = {.n_columns = is_wide ? 9 : 6};
	struct text text CLEANUP(text_done) = {0};
	msec now = loop_now();

	if (!option_flag(options, "no-headers"))
		table_add_row(&table, headings);
	for (size_t i = 0; i < rows->count; i++)
		if (is_shown(options, &rows->list[i]))
			add_row(&table, &rows->list[i], is_wide, now);
	table_write(&table, &text);
	output_add(&text);
}

/* Names that other commands take, each on a line: local/digits-x7k2p. */
static void print_names(const struct options *options, const struct rows *rows)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < rows->count; i++)
		if (is_shown(options, &rows->list[i]))
			text_addf(&text, "%s/%s\n", rows->list[i].where, rows->list[i].name);
	output_add(&text);
}

/* A TFJobList, as the API server gives one. A job deleted since the list was read is left out. */
static int print_objects(const struct options *options, struct client *client,
			 const struct rows *rows, const char *format, struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = json_new_object();
	struct json *items = json_new_array();

	json_set_string(list, "apiVersion", "kubeflow.org/v1");
	json_set_string(list, "kind", "TFJobList");
	json_set(list, "metadata", json_new_object());
	json_set(list, "items", items);
	for (size_t i = 0; i < rows->count; i++) {
		struct json *job = NULL;

		if (!is_shown(options, &rows->list[i]))
			continue;
		int rc = client->functions->get(client, rows->list[i].name, &job, err);
		if (rc == ERR_NOT_FOUND)
			continue;
		if (rc)
			return rc;
		json_append(items, job);
	}
	output_add_object(list, format);
	return 0;
}

static int ps_run(const struct options *options)
{
	struct err err = {0};
	struct rows rows CLEANUP(rows_done) = {0};
	struct client *client CLEANUP(lookup_close) = NULL;
	const char *format = option_text(options, "output");

	if (lookup_open(options, &client, &err) ||
	    client->functions->list(client, &rows.list, &rows.count, &err))
		return output_fail(&err);
	if (text_equals(format, "name"))
		print_names(options, &rows);
	else if (!format || text_equals(format, "wide"))
		print_table(options, &rows, format != NULL);
	else if (print_objects(options, client, &rows, format, &err))
		return output_fail(&err);
	return EXIT_DONE;
}

static const struct option_row rows_of_ps[] = {
	{.name = "all",
	 .letter = 'a',
	 .kind = OPTION_FLAG,
	 .one_line = "finished jobs too, not only those that go on"},
	{.name = "output",
	 .letter = 'o',
	 .kind = OPTION_WORD,
	 .words = "json|yaml|wide|name",
	 .one_line = "a TFJobList, more columns, or names only"},
	{.name = "no-headers", .kind = OPTION_FLAG, .one_line = "leave the headings out"},
	{0},
};

const struct command command_ps = {
	.name = "ps",
	.group = "Look",
	.arguments = "[OPTIONS]",
	.one_line = "list the jobs of this machine",
	.examples = "  muster ps -a\n"
		    "  muster ps -a -o json | jq -r '.items[].metadata.name'\n",
	.options = rows_of_ps,
	.run = ps_run,
};

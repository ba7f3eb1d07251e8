/* muster ps: lists this user's jobs on this machine, and those on a cluster. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/elastic_status.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/local_jobs.h"
#include "cli/lookup.h"
#include "cli/watch.h"
#include "command/table.h"
#include "io/folder.h"
#include "io/loop.h"
#include "io/terminal.h"
#include "local/nvml.h"

#include <inttypes.h>
#include <unistd.h>

struct rows {
	struct client_row *list;
	size_t count;
};

static void rows_done(struct rows *rows)
{
	client_rows_free(rows->list, rows->count);
}

/* --last and --since are about finished jobs, too. */
static bool shows_finished(const struct options *options)
{
	return option_flag(options, "all") || option_is_given(options, "last") ||
	       option_is_given(options, "since");
}

static bool is_shown(const struct options *options, const struct client_row *row)
{
	msec since;

	if (!row->is_finished)
		return true;
	return shows_finished(options) &&
	       (option_moment(options, "since", loop_now(), &since, NULL) < 0 ||
		row->completion_time >= since);
}

/* Keeps the rows to print, the newest ones last. */
static void drop_hidden(const struct options *options, struct rows *rows)
{
	size_t last = (size_t) option_number(options, "last", INT32_MAX), n_shown = 0, count = 0;

	for (size_t i = 0; i < rows->count; i++)
		n_shown += is_shown(options, &rows->list[i]);
	for (size_t i = 0; i < rows->count; i++)
		if (is_shown(options, &rows->list[i]) && n_shown-- <= last)
			rows->list[count++] = rows->list[i];
		else
			client_row_done(&rows->list[i]);
	rows->count = count;
}

/* Whether it has changed since the last rows were printed. A job that has finished since then is
 * printed once more. */
static bool is_changed(const struct options *options, const struct rows *last,
		       const struct client_row *row)
{
	const struct client_row *before = NULL;

	for (size_t i = 0; i < last->count && !before; i++)
		if (text_equals(last->list[i].uid, row->uid))
			before = &last->list[i];
	if (before && before->version == row->version &&
	    before->is_unsupervised == row->is_unsupervised)
		return false;
	return is_shown(options, row) || (before && is_shown(options, before));
}

enum column {
	COLUMN_NAMESPACE,
	COLUMN_NAME,
	COLUMN_STATE,
	COLUMN_ROLES,
	COLUMN_RUNNING,
	COLUMN_RESTARTS,
	COLUMN_AGE,
	COLUMN_EXIT,
	COLUMN_DURATION,
	COLUMN_WHERE,
	COLUMN_STARTED,
	COLUMN_GPUS,
	COLUMN_COMMAND,
	COLUMN_MESSAGE,
	COLUMN_COUNT
};

static bool has_column(const struct options *options, enum column column)
{
	bool is_wide = text_equals(option_text(options, "output"), "wide");

	if (column == COLUMN_NAMESPACE)
		return option_flag(options, "all-namespaces");
	if (column >= COLUMN_WHERE)
		return is_wide;
	return column < COLUMN_EXIT || is_wide || shows_finished(options);
}

static void add_cell(const struct client_row *row, enum column column, bool is_local,
		     struct table *table)
{
	switch (column) {
	case COLUMN_NAMESPACE:
		table_add(table, row->namespace_name);
		break;
	case COLUMN_NAME:
		table_add(table, row->name);
		break;
	case COLUMN_STATE:
		if (text_equals(row->state, condition_type_words[CONDITION_QUEUED]))
			table_addf(table, "%s (%s)", row->state, row->message);
		else
			table_addf(table, "%s%s", row->state,
				   row->is_unsupervised ? " (unsupervised)" : "");
		break;
	case COLUMN_ROLES:
		table_add(table, row->roles);
		break;
	case COLUMN_RUNNING:
		table_addf(table, "%d/%d", row->running, row->wanted);
		break;
	case COLUMN_RESTARTS:
		table_addf(table, "%d", row->restarts);
		break;
	case COLUMN_AGE:
		table_add_span(table, row->created, loop_now());
		break;
	case COLUMN_EXIT:
		if (row->exit_code >= 0)
			table_addf(table, "%d", row->exit_code);
		else
			table_add(table, NULL);
		break;
	case COLUMN_DURATION:
		table_add_span(table, row->start_time,
			       row->is_finished ? row->completion_time : loop_now());
		break;
	case COLUMN_WHERE:
		table_add(table, row->where);
		break;
	case COLUMN_STARTED:
		table_add_time(table, row->start_time, is_local);
		break;
	case COLUMN_GPUS:
		table_add(table, row->gpus);
		break;
	case COLUMN_COMMAND:
		table_add(table, row->command);
		break;
	case COLUMN_MESSAGE:
	case COLUMN_COUNT:
		table_add(table, row->message);
		break;
	}
}

/* With those rows only that differ from the `last` ones (NULL: all). */
static void add_table(const struct options *options, const struct rows *rows,
		      const struct rows *last, bool has_headings, struct text *text)
{
	static const char *const headings[COLUMN_COUNT] = {
		"NAMESPACE", "NAME",     "STATE", "ROLES",   "RUNNING", "RESTARTS", "AGE",
		"EXIT",      "DURATION", "WHERE", "STARTED", "GPUS",    "COMMAND",  "MESSAGE"};
	struct table table CLEANUP(table_done) = {0};
	enum column columns[COLUMN_COUNT];

	for (enum column column = 0; column < COLUMN_COUNT; column++)
		if (has_column(options, column))
			columns[table.n_columns++] = column;
	for (size_t i = 0;
	     has_headings && !option_flag(options, "no-headers") && i < table.n_columns; i++)
		table_add(&table, headings[columns[i]]);
	for (size_t row = 0; row < rows->count; row++) {
		if (last && !is_changed(options, last, &rows->list[row]))
			continue;
		for (size_t i = 0; i < table.n_columns; i++)
			add_cell(&rows->list[row], columns[i], times_are_local(options), &table);
	}
	table_write(&table, text);
}

/* A TFJobList, as the API server returns one. A job deleted since the list was read is omitted. */
static int print_objects(struct lookup *lookup, const struct rows *rows, const char *format,
			 struct err *err)
{
	struct json *list CLEANUP(json_cleanup) =
		json_new_texts("apiVersion", "kubeflow.org/v1", "kind", "TFJobList", NULL);
	struct json *items = json_new_array();

	json_set(list, "metadata", json_new_object());
	json_set(list, "items", items);
	for (size_t i = 0; i < rows->count; i++) {
		struct json *job = NULL;
		const struct client_row *row = &rows->list[i];
		struct client *client;
		int rc = lookup_client(lookup, row->namespace_name, row->namespace_name, &client,
				       err);

		if (rc == 0)
			rc = client->functions->get(client, row->name, &job, err);
		if (rc == ERR_NOT_FOUND)
			continue;
		if (rc)
			return rc;
		json_append(items, job);
	}
	output_add_object(list, format);
	return 0;
}

/* Which jobs to list: those of --on; without it the cluster's if one is selected, else this
 * machine's. */
static bool is_asked_for(const struct options *options, const char *place)
{
	const char *on = option_text(options, "on");

	if (!on)
		on = lookup_means_cluster(options) || option_flag(options, "all-namespaces")
			     ? "kubernetes"
			     : "local";
	return text_equals(on, place) || text_equals(on, "all");
}

/* Adds them before the rows that are in the list. */
static int add_listed_jobs(const struct options *options, struct lookup *lookup, bool is_on_cluster,
			   struct rows *rows, struct err *err)
{
	const char *namespace_name = option_flag(options, "all-namespaces") ? "" : NULL;
	struct client *client = NULL;
	struct client_row *list = NULL;
	size_t count = 0;
	int rc = lookup_client(lookup, is_on_cluster, namespace_name, &client, err);

	if (rc == 0)
		rc = client->functions->list(client, &list, &count, err);
	if (rc < 0)
		return rc;
	list = mem_resize(list, count + rows->count + 1, sizeof(*list));
	if (rows->count)
		memcpy(list + count, rows->list, rows->count * sizeof(*list));
	free(rows->list);
	*rows = (struct rows){.list = list, .count = count + rows->count};
	return 0;
}

/* "0 (93%, 12288Mi, 65 C, 250 W)", what is known of it. */
static void add_load(const struct gpu_load *load, struct text *text)
{
	const struct {
		int64_t value;
		const char *unit;
	} values[] = {{load->busy, "%"},
		      {load->memory_used < 0 ? -1 : load->memory_used / MEBIBYTE, "Mi"},
		      {load->degrees, " C"},
		      {load->milliwatts < 0 ? -1 : load->milliwatts / 1000, " W"}};
	const char *separator = " (";

	text_addf(text, "%s%d", text->len ? ", " : "", load->number);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		if (values[i].value < 0)
			continue;
		text_addf(text, "%s%" PRId64 "%s", separator, values[i].value, values[i].unit);
		separator = ", ";
	}
	text_add(text, text_equals(separator, ", ") ? ")" : "");
}

/* The GPUs of the running replicas of a job of this machine. A job that is deleted meanwhile has
 * none. */
static void find_gpus(struct lookup *lookup, const struct gpu_loads *loads, struct client_row *row)
{
	struct job_state state CLEANUP(job_state_done) = {0};
	struct found_job found = {.name = row->name};
	struct text text CLEANUP(text_done) = {0};
	struct err err;

	if (lookup_client(lookup, NULL, NULL, &found.client, &err) < 0 ||
	    job_state_read(&found, &state, &err) < 0)
		return;
	for (size_t i = 0; i < loads->count; i++)
		for (size_t j = 0; j < state.status.n_replicas; j++) {
			const struct replica_status *replica = &state.status.replicas[j];

			if (replica->pid > 0 &&
			    gpus_names_have(replica->gpus, loads->list[i].number)) {
				add_load(&loads->list[i], &text);
				break;
			}
		}
	if (text.len > 0)
		row->gpus = text_take(&text);
}

/* A driver that does not answer says nothing. */
static void add_gpus(struct lookup *lookup, struct rows *rows)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct gpu_loads *loads CLEANUP(mem_free_any) = mem_new(sizeof(*loads));
	struct err err;

	if (nvml_loads(arena, loads, &err) < 0)
		return;
	for (size_t i = 0; i < rows->count && loads->count > 0; i++)
		if (!rows->list[i].namespace_name && rows->list[i].running > 0)
			find_gpus(lookup, loads, &rows->list[i]);
}

/* The jobs of one place are printed also when the other place cannot be read. The cluster comes
 * first, because another program may be executed there. */
static int list_all(const struct options *options, struct lookup *lookup, struct rows *rows)
{
	struct err err = {0};
	int exit_code = EXIT_DONE;

	if (is_asked_for(options, "kubernetes") &&
	    add_listed_jobs(options, lookup, true, rows, &err))
		exit_code = output_fail(&err);
	if (is_asked_for(options, "local") && add_listed_jobs(options, lookup, false, rows, &err))
		exit_code = output_fail(&err);
	if (has_column(options, COLUMN_GPUS))
		add_gpus(lookup, rows);
	return exit_code;
}

/* -w. A terminal shows the present table, redrawn each second; a file gets the table, and then a
 * row whenever a job changes. Jobs of this machine are read when one changes, and periodically in
 * case a supervisor was killed; those of a cluster periodically. */

#define LOOK_AGAIN (5 * MSEC_PER_SECOND)
/* Changes come in bursts. */
#define SETTLE_DOWN 50

struct watching {
	const struct options *options;
	struct lookup *lookup;
	struct loop *loop;
	struct loop_watch *timer;
	struct folder_watch *folder_watch;
	bool is_drawn; /* over the last output, on a terminal */
	bool has_looked;
	instant next_look;
	struct rows last;
	int exit_code;
};

static void watching_done(struct watching *watching)
{
	folder_watch_free(watching->folder_watch);
	loop_watch_free(watching->timer);
	loop_free(watching->loop);
	rows_done(&watching->last);
	lookup_free(watching->lookup);
}

/* Not later than the next poll. */
static void schedule_job_poll(struct watching *watching, msec pause)
{
	instant at = loop_instant_after(pause);

	if (!instant_is_before(at, watching->next_look))
		return;
	watching->next_look = at;
	loop_timer_arm(watching->timer, at);
}

static void poll_listed_jobs(void *data)
{
	struct watching *watching = data;
	struct text text CLEANUP(text_done) = {0}, screen CLEANUP(text_done) = {0};
	struct rows rows = {0};

	watching->next_look = INSTANT_NEVER;
	watching->exit_code = list_all(watching->options, watching->lookup, &rows);
	if (watching->is_drawn) {
		drop_hidden(watching->options, &rows);
		add_table(watching->options, &rows, NULL, true, &text);
		redraw_add(text_of(&text), false, &screen);
		output_add_screen(&screen);
	} else {
		add_table(watching->options, &rows, &watching->last, !watching->has_looked, &text);
		output_add(&text);
	}
	watching->has_looked = true;
	rows_done(&watching->last);
	watching->last = rows;
	if (watching->exit_code || !output_flush())
		loop_stop(watching->loop);
	else
		schedule_job_poll(watching, watching->is_drawn ? MSEC_PER_SECOND : LOOK_AGAIN);
}

static void on_job_folder_change(enum folder_news news, const char *file_name, void *data)
{
	struct watching *watching = data;

	(void) news;
	(void) file_name;
	schedule_job_poll(watching, SETTLE_DOWN);
}

static int watch_job_list(const struct options *options)
{
	struct watching watching CLEANUP(watching_done) = {
		.options = options,
		.lookup = lookup_new(options),
		.next_look = INSTANT_NEVER,
		.is_drawn = terminal_understands_escapes(STDOUT_FILENO),
	};
	const char *format = option_text(options, "output");
	char *folder CLEANUP(mem_free_text) = local_jobs_folder(options);
	struct err err;

	if (format && !text_equals(format, "wide"))
		return output_fail_with(
			EXIT_USAGE,
			"-w: works with the table only; to follow one job: 'muster status -w -o "
			"%s JOB'",
			format);
	if (loop_new(&watching.loop, &err))
		return output_fail(&err);
	watching.timer = loop_new_timer(watching.loop, poll_listed_jobs, &watching);
	/* Without it, changes are found by polling. */
	if (is_asked_for(options, "local"))
		(void) !folder_watch_new(watching.loop, folder, on_job_folder_change, &watching,
					 &watching.folder_watch, NULL);
	schedule_job_poll(&watching, 0);
	loop_run(watching.loop);
	return watching.exit_code;
}

static int ps_run(const struct options *options)
{
	struct err err = {0};
	struct rows rows CLEANUP(rows_done) = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	const char *format = option_text(options, "output");
	msec since;
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct text text CLEANUP(text_done) = {0};
	int exit_code;

	if (option_text(options, "rdzv-endpoint"))
		return elastic_status(options);
	if (option_is_given(options, "since") &&
	    option_moment(options, "since", loop_now(), &since, &err) < 0)
		return output_fail_with(EXIT_USAGE, "%s", err.text);
	if (option_flag(options, "watch"))
		return watch_job_list(options);
	exit_code = list_all(options, lookup, &rows);
	if (exit_code && !rows.count)
		return exit_code;
	drop_hidden(options, &rows);
	bool is_table = !format || text_equals(format, "wide");
	bool are_names = text_equals(format, "name");

	if (is_table)
		add_table(options, &rows, NULL, true, &text);
	/* Names that other commands take, each on a line: local/digits-x7k2p. */
	for (size_t i = 0; are_names && i < rows.count; i++)
		text_addf(&text, "%s/%s\n", rows.list[i].where, rows.list[i].name);
	output_add(&text);
	if (!is_table && !are_names && print_objects(lookup, &rows, format, &err))
		return output_fail(&err);
	/* A user who has started a job on a cluster and sees an empty table thinks that it is
	 * lost. */
	if (!format && !option_flag(options, "no-headers") && !rows.count &&
	    !is_asked_for(options, "kubernetes") &&
	    kube_cluster_read_config(options, &config, NULL) == 0)
		output_print_message("no job is running on this machine; to list namespace "
				     "'%s' of the cluster: muster ps --on kubernetes",
				     config->namespace_name);
	return exit_code;
}

static const struct option_row rows_of_ps[] = {
	FLAG("all", "include finished jobs", .letter = 'a'),
	OPTION("last", NUMBER, "N", NULL, "the last N jobs, with finished ones", .low = 1,
	       .high = INT32_MAX),
	OPTION("since", TEXT, "TIME", NULL,
	       "with jobs that finished since this time: 10m (ago) or 2026-01-02T03:04:05Z"),
	FLAG("watch", "keep watching: redraw the table on a terminal, else print a row per change",
	     .letter = 'w'),
	WORDS("output", "json|yaml|wide|name", NULL,
	      "print a TFJobList, more columns, or only names", .letter = 'o'),
	UTC_ROW(OPTIONS_OF_COMMAND),
	FLAG("no-headers", "do not print column headings"),
	WORDS("on", "local|kubernetes|all", NULL,
	      "list jobs on this machine, on the cluster, or both (default: local, or kubernetes "
	      "when a cluster or namespace is given)"),
	FLAG("all-namespaces", "list jobs in all namespaces of the cluster", .letter = 'A',
	     .group = OPTIONS_OF_KUBERNETES),
	ELASTIC_STATUS_ROWS,
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_ps = {
	.name = "ps",
	.group = "Inspect",
	.arguments = "[OPTIONS]",
	.one_line = "list the jobs on this machine or on a cluster",
	.examples = "  muster ps -a\n"
		    "  muster ps --last 10\n"
		    "  muster ps -w\n"
		    "  muster ps --on kubernetes\n"
		    "  muster ps -A -o wide\n"
		    "  muster ps -a -o json | jq -r '.items[].metadata.name'\n",
	.options = rows_of_ps,
	.run = ps_run,
};

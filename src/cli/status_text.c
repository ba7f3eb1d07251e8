/* The summary comes from reconcile/summary.h; this file makes lines and tables of it. */
#include "cli/status_text.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "command/table.h"
#include "io/loop.h"
#include "io/own_process.h"
#include "jobs/client.h"
#include "jobs/processes.h"
#include "reconcile/failure_text.h"
#include "reconcile/output_idle.h"
#include "reconcile/summary.h"
#include "reconcile/waiting_reason.h"
#include "spec/job.h"
#include "status/status.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MEBIBYTE (1024 * 1024)

/* One job to show. */
struct view {
	const struct json *object;
	const struct job *job;
	const struct status *status;
	const char *job_words; /* spec/job.h */
	struct summary summary;
	const char *supervisor; /* of a job on a cluster, "" without an active one; else NULL */
	const char *operator; /* of a TFJob, "" without one; else NULL */
	const struct replica_usage *usage; /* of its replicas; NULL: no process of it is running on
					      this machine */
	bool is_on_cluster;
	bool is_wide;
	bool is_local;
	msec now;
};

static void add_age(struct table *table, msec from, msec to)
{
	struct text age CLEANUP(text_done) = {0};

	if (from != MSEC_UNSET)
		text_add_duration(&age, to > from ? to - from : 0);
	table_add(table, text_of(&age));
}

static int offset_at(const struct view *view, msec time)
{
	return view->is_local && time != MSEC_UNSET ? time_zone_offset(time) : 0;
}

static void add_moment(const struct view *view, const char *heading, msec time, struct text *text)
{
	if (time == MSEC_UNSET)
		return;
	text_addf(text, "%-12s", heading);
	text_add_time_ahead(text, time, offset_at(view, time));
	text_add(text, " (");
	text_add_duration(text, view->now > time ? view->now - time : 0);
	text_add(text, " ago)\n");
}

static const char *viewed_job_name_of(const struct view *view)
{
	return json_as_string(json_get_path(view->object, "metadata", "name", NULL), "");
}

/* Messages of other programs. */
static void add_message(struct text *text, const char *before, const char *message,
			const char *behind)
{
	text_add(text, before);
	line_text_add_sentence(text, message, strlen(message));
	text_add(text, behind);
}

/* For a job on a cluster. */
static void add_supervisor(const struct view *view, struct text *text)
{
	if (!view->supervisor)
		return;
	if (*view->supervisor)
		add_message(text, "Supervised: by ", view->supervisor, "\n");
	else if (status_is_finished(view->status))
		text_add(text, "Supervised: no\n");
	else
		text_addf(text,
			  "Supervised: no active supervisor, so failures are not restarted; to "
			  "take over: 'muster attach %s'\n",
			  view->job_words);
}

/* For a TFJob. */
static void add_operator(const struct view *view, struct text *text)
{
	if (!view->operator)
		return;
	if (*view->operator)
		add_message(text, "Served:     by ", view->operator, "\n");
	else
		text_add(text, "Served:     no operator manages it yet\n");
}

/* The kind of its addresses. */
static void add_network(const struct view *view, struct text *text)
{
	const struct json *word = json_get_path(view->object, "metadata", "annotations",
						JOB_ANNOTATION_PRIVATE_NETWORK, NULL);

	if (!view->is_on_cluster && text_equals(json_as_string(word, NULL), "true"))
		text_addf(text, "Network:    private (reach it with 'muster exec %s')\n",
			  view->job_words);
}

static void add_elastic_id(const struct view *view, struct text *text)
{
	const struct json *id = json_get_path(view->object, "metadata", "annotations",
					      JOB_ANNOTATION_ELASTIC, NULL);

	if (id)
		add_message(text, "Part of:    elastic job ", json_as_string(id, ""), "\n");
}

static void add_ranks(const struct view *view, struct text *text)
{
	const struct status *status = view->status;

	if (status->n_ranks == 0)
		return;
	text_add(text, "Ranks:      ");
	replica_names_add_ranks(text, status->first_rank, (int) status->n_replicas,
				status->n_ranks);
	text_add_char(text, '\n');
}

static void add_head(const struct view *view, struct text *text)
{
	const struct summary *summary = &view->summary;

	text_addf(text, "Name:       %s\n", viewed_job_name_of(view));
	add_message(text, "State:      ", summary->state, "\n");
	if (*summary->message)
		add_message(text, "Message:    ", summary->message, "\n");
	add_supervisor(view, text);
	add_operator(view, text);
	add_message(text, "Roles:      ", summary->roles, "\n");
	add_network(view, text);
	text_addf(text, "Running:    %d of %d\n", summary->running, summary->wanted);
	text_addf(text, "Restarts:   %d\n", summary->restarts);
	add_elastic_id(view, text);
	if (view->status->machines)
		add_message(text, "Machines:   ", view->status->machines,
			    " (in the worlds so far, the newest last)\n");
	add_ranks(view, text);
	add_moment(view, "Started:", summary->start_time, text);
	add_moment(view, "Ended:", summary->completion_time, text);
	if (summary->exit_code >= 0)
		text_addf(text, "Exit code:  %d\n", summary->exit_code);
}

static void add_conditions(const struct view *view, struct text *text)
{
	static const char *const headings[] = {"CONDITION", "TRUE", "AGE", "REASON", "MESSAGE"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};

	if (!view->status->n_conditions)
		return;
	table_add_row(&table, headings);
	for (size_t i = 0; i < view->status->n_conditions; i++) {
		const struct condition *condition = &view->status->conditions[i];

		table_add(&table, condition_type_words[condition->type]);
		table_add(&table, condition->is_true ? "yes" : "no");
		add_age(&table, condition->last_transition, view->now);
		table_add(&table, condition->reason);
		/* A condition that is no longer true keeps its sentence, which is out of date. */
		table_add(&table, condition->is_true ? condition->message : NULL);
	}
	text_add_char(text, '\n');
	table_write(&table, text);
}

/* The table of replicas. Each column is a heading and a cell for each row. */

enum detail {
	DETAIL_ALWAYS,
	DETAIL_HERE, /* of local processes */
	DETAIL_HERE_WIDE,
	DETAIL_USAGE, /* the same, while some are running */
	DETAIL_GPUS, /* if GPUs are assigned */
	DETAIL_PODS,
	DETAIL_PODS_WIDE,
};

/* The values for the cells of a line. */
struct line {
	const struct replica_status *replica;
	const struct replica_usage *usage; /* for DETAIL_USAGE */
	msec now;
};

typedef void (*add_cell_fn)(struct table *table, const struct line *line);

static void add_replica_name_cell(struct table *table, const struct line *line)
{
	const struct replica_status *replica = line->replica;

	table_addf(table, "%s-%d", replica->role, replica->index);
}

static void add_replica_state_cell(struct table *table, const struct line *line)
{
	table_add(table, replica_state_words[line->replica->state]);
}

static void add_pid(struct table *table, const struct line *line)
{
	const struct replica_status *replica = line->replica;

	if (replica->pid)
		table_addf(table, "%lld", (long long) replica->pid);
	else
		table_add(table, NULL);
}

/* "3", "signal 9" or nothing. */
static void add_end(struct table *table, const struct line *line)
{
	const struct replica_status *replica = line->replica;

	if (replica->signal)
		table_addf(table, "signal %d", replica->signal);
	else if (replica->exit_code >= 0)
		table_addf(table, "%d", replica->exit_code);
	else
		table_add(table, NULL);
}

static void add_lifetime(struct table *table, const struct line *line)
{
	const struct replica_status *replica = line->replica;

	add_age(table, replica->start_time,
		replica->end_time != MSEC_UNSET ? replica->end_time : line->now);
}

/* As in systemctl status, of all processes of the replica. */

static void add_last_output(struct table *table, const struct line *line)
{
	add_age(table, line->usage->printed_at, line->now);
}

static void add_cpu(struct table *table, const struct line *line)
{
	struct text time CLEANUP(text_done) = {0};

	if (line->usage->n_processes)
		text_add_duration(&time, line->usage->used.cpu);
	table_add(table, text_of(&time));
}

static void add_memory(struct table *table, const struct line *line)
{
	if (line->usage->n_processes)
		table_addf(table, "%" PRId64 "Mi", line->usage->used.memory / MEBIBYTE);
	else
		table_add(table, NULL);
}

static const struct column {
	const char *heading;
	enum detail detail;
	bool is_number;
	add_cell_fn add; /* NULL: the cell is the member at `offset`, a text or an int */
	size_t offset;
} all_columns[] = {
	{"REPLICA", DETAIL_ALWAYS, false, add_replica_name_cell},
	{"STATE", DETAIL_ALWAYS, false, add_replica_state_cell},
	{"ATTEMPT", DETAIL_ALWAYS, true, NULL, offsetof(struct replica_status, attempt)},
	{"RESTARTS", DETAIL_ALWAYS, true, NULL, offsetof(struct replica_status, restarts)},
	{"PID", DETAIL_HERE, false, add_pid},
	{"ADDRESS", DETAIL_HERE, false, NULL, offsetof(struct replica_status, address)},
	{"GPUS", DETAIL_GPUS, false, NULL, offsetof(struct replica_status, gpus)},
	{"NODE", DETAIL_PODS, false, NULL, offsetof(struct replica_status, node)},
	{"EXIT", DETAIL_ALWAYS, false, add_end},
	{"AGE", DETAIL_ALWAYS, false, add_lifetime},
	{"LAST OUTPUT", DETAIL_USAGE, false, add_last_output},
	{"CPU", DETAIL_USAGE, false, add_cpu},
	{"MEMORY", DETAIL_USAGE, false, add_memory},
	{"REASON", DETAIL_HERE_WIDE, false, NULL, offsetof(struct replica_status, reason)},
	{"REASON", DETAIL_PODS, false, NULL, offsetof(struct replica_status, reason)},
	{"LOG", DETAIL_HERE_WIDE, false, NULL, offsetof(struct replica_status, log)},
	{"POD", DETAIL_PODS_WIDE, false, NULL, offsetof(struct replica_status, pod)},
	{"IP", DETAIL_PODS_WIDE, false, NULL, offsetof(struct replica_status, ip)},
	{"ADDRESS", DETAIL_PODS_WIDE, false, NULL, offsetof(struct replica_status, address)},
};

static bool has_gpus(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (status->replicas[i].gpus)
			return true;
	return false;
}

static bool is_shown(const struct view *view, enum detail detail)
{
	switch (detail) {
	case DETAIL_ALWAYS:
		break;
	case DETAIL_HERE:
		return !view->is_on_cluster;
	case DETAIL_HERE_WIDE:
		return !view->is_on_cluster && view->is_wide;
	case DETAIL_USAGE:
		return view->usage;
	case DETAIL_GPUS:
		return has_gpus(view->status);
	case DETAIL_PODS:
		return view->is_on_cluster;
	case DETAIL_PODS_WIDE:
		return view->is_on_cluster && view->is_wide;
	}
	return true;
}

static void add_replica_table(const struct view *view, struct text *text)
{
	const struct status *status = view->status;
	const struct column *columns[ARRAY_LEN(all_columns)];
	struct table table CLEANUP(table_done) = {0};
	struct line line = {.now = view->now};

	if (!status->n_replicas)
		return;
	for (size_t i = 0; i < ARRAY_LEN(all_columns); i++)
		if (is_shown(view, all_columns[i].detail))
			columns[table.n_columns++] = &all_columns[i];
	for (size_t i = 0; i < table.n_columns; i++)
		table_add(&table, columns[i]->heading);
	for (size_t i = 0; i < status->n_replicas; i++) {
		line.replica = &status->replicas[i];
		line.usage = view->usage ? &view->usage[i] : NULL;
		for (size_t k = 0; k < table.n_columns; k++)
			if (columns[k]->add)
				columns[k]->add(&table, &line);
			else
				table_add_member(&table, line.replica, columns[k]->offset,
						 columns[k]->is_number);
	}
	text_add_char(text, '\n');
	table_write(&table, text);
}

static void add_obstacles(const struct view *view, struct text *text)
{
	struct text lines CLEANUP(text_done) = {0};

	if (status_is_finished(view->status))
		return;
	waiting_reasons_describe(view->status, "  ", &lines);
	if (lines.len)
		text_addf(text, "\nWaiting:\n%s", text_of(&lines));
}

/* The warning that `run` prints on its terminal about a silent job, for other terminals. */
static void add_silence(const struct view *view, struct text *text)
{
	const struct status *status = view->status;
	struct output_idle *silences CLEANUP(mem_free_any) =
		mem_new_array(status->n_replicas + 1, sizeof(*silences));
	struct text sentence CLEANUP(text_done) = {0};
	size_t count = 0;

	for (size_t i = 0; view->usage && i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];
		msec life = msec_max(replica->start_time, view->usage[i].printed_at);

		if (replica->state != REPLICA_RUNNING ||
		    !output_idle_is_meaningful(view->job, replica->role))
			continue;
		silences[count++] = (struct output_idle){
			.role = replica->role,
			.index = replica->index,
			.is_watched = true,
			.is_told = view->now - life >= OUTPUT_IDLE_FIRST,
			.patience = view->now - life,
		};
	}
	output_idle_add_lasting(silences, count, &sentence);
	if (sentence.len == 0)
		return;
	output_idle_add_cause(silences, count, view->job, &sentence);
	text_addf(text, "\nSilence:\n  %s\n  to see the stacks: muster stacks %s\n",
		  text_of(&sentence), view->job_words);
}

static void add_failure_section(const struct view *view, struct text *text)
{
	if (!view->status->failure)
		return;
	const struct failure_style style = {.offset = offset_at(view, view->status->failure->time)};

	text_add(text, status_condition_is_true(view->status, CONDITION_FAILED)
			       ? "\nFailure:\n"
			       : "\nCause of the last restart:\n");
	failure_describe(view->status, view->job_words, &style, text);
}

static void add_view(const struct view *view, struct text *text)
{
	add_head(view, text);
	add_conditions(view, text);
	add_replica_table(view, text);
	add_obstacles(view, text);
	add_silence(view, text);
	add_failure_section(view, text);
}

static bool is_any_running(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (status->replicas[i].pid > 0)
			return true;
	return false;
}

/* What is read from a job's object to show it. */
struct reading {
	struct arena *arena;
	struct job *job;
	struct view view;
};

static void status_reading_done(struct reading *reading)
{
	job_free(reading->job);
	arena_free(reading->arena);
}

static int read_view(const struct json *object, const struct status *status,
		     struct reading *reading, struct err *err)
{
	reading->arena = arena_new();
	if (client_read_job(object, &reading->job, err) < 0)
		return ERR_IO;
	reading->view.object = object;
	reading->view.job = reading->job;
	reading->view.status = status;
	reading->view.supervisor =
		json_as_string(json_get_path(object, "status", CLIENT_SUPERVISED_BY, NULL), NULL);
	reading->view.operator=
		json_as_string(json_get_path(object, "status", CLIENT_SERVED_BY, NULL), NULL);
	reading->view.is_on_cluster =
		reading->view.supervisor || reading->view.operator|| status_has_pods(status);
	reading->view.now = loop_now();
	summary_create(reading->job, status, reading->arena, &reading->view.summary);
	return 0;
}

int status_text_add(const struct json *tfjob, const struct status *status, const char *job_words,
		    const struct status_style *style, struct text *text, struct err *err)
{
	struct reading reading CLEANUP(status_reading_done) = {
		.view = {.job_words = job_words,
			 .is_wide = style->is_wide,
			 .is_local = style->is_local}};

	if (read_view(tfjob, status, &reading, err))
		return err->code;
	const char *uid = json_as_string(json_get_path(tfjob, "metadata", "uid", NULL), "");
	bool is_running_here = !reading.view.is_on_cluster && is_any_running(status);
	struct replica_usage *usage CLEANUP(mem_free_any) =
		is_running_here ? job_processes_usage(uid, status) : NULL;

	reading.view.usage = usage;
	add_view(&reading.view, text);
	return 0;
}

int status_text_add_line(const struct json *tfjob, const struct status *status, struct text *text,
			 struct err *err)
{
	struct reading reading CLEANUP(status_reading_done) = {0};
	const struct summary *summary = &reading.view.summary;

	if (read_view(tfjob, status, &reading, err))
		return err->code;
	add_message(text, "", summary->state, "");
	text_addf(text, "%s  running %d/%d  restarts %d",
		  text_equals(reading.view.supervisor, "") ? " (unsupervised)" : "",
		  summary->running, summary->wanted, summary->restarts);
	if (*summary->message)
		add_message(text, "  ", summary->message, "");
	text_add_char(text, '\n');
	return 0;
}

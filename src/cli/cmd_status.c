/* muster status: all facts about one job. */
#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "cli/commands.h"
#include "cli/elastic_status.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/watch.h"
#include "command/table.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/own_process.h"
#include "io/process.h"
#include "io/terminal.h"
#include "jobs/client.h"
#include "jobs/processes.h"
#include "jobs/state_folder.h"
#include "local/nvml.h"
#include "reconcile/failure_text.h"
#include "reconcile/output_idle.h"
#include "reconcile/summary.h"
#include "reconcile/waiting_reason.h"
#include "spec/job.h"

#include <inttypes.h>
#include <stdlib.h>

/* How `status` shows a job, once or at each change. */
struct display {
	char *words; /* the job's name on a command line (spec/job.h) */
	const char *where; /* "local", "kubernetes/NAMESPACE" */
	const char *format; /* of -o; NULL: none */
	bool is_wide; /* more columns */
	bool is_local; /* times in this machine's time zone, not UTC */
	struct text last; /* the last output */
	bool is_watched;
	bool is_drawn; /* each time over the last output, on a terminal */
	bool has_ended;
	struct err err;
};

/* The job to show, once or at one change. Its summary comes from reconcile/summary.h. */
struct view {
	struct arena *arena;
	struct job *job;
	const struct json *object;
	const struct status *status;
	const struct display *display;
	struct summary summary;
	const char *supervisor; /* of a job on a cluster, "" without an active one; else NULL */
	const char *operator_name; /* of a TFJob, "" without one; else NULL */
	const struct replica_usage *usage; /* of its replicas; NULL: no process of it is running on
					      this machine */
	bool is_on_cluster;
	msec now;
};

static void view_done(struct view *view)
{
	job_free(view->job);
	arena_free(view->arena);
}

static int offset_at(const struct view *view, msec time)
{
	return view->display->is_local && time != MSEC_UNSET ? time_zone_offset(time) : 0;
}

/* `since`: the start of what ended then; MSEC_UNSET: nothing. */
static void add_moment(const struct view *view, const char *heading, msec time, msec since,
		       struct text *text)
{
	if (time == MSEC_UNSET)
		return;
	text_addf(text, "%-12s", heading);
	text_add_time_ahead(text, time, offset_at(view, time));
	text_add(text, " (");
	text_add_duration(text, view->now - time);
	text_add(text, " ago");
	if (since != MSEC_UNSET) {
		text_add(text, ", after ");
		text_add_duration(text, time - since);
	}
	text_add(text, ")\n");
}

/* Messages of other programs. */
static void add_message(struct text *text, const char *before, const char *message,
			const char *behind)
{
	text_add(text, before);
	line_text_add_sentence(text, message, strlen(message));
	text_add(text, behind);
}

#define MOST_COMMAND_COLUMNS 400

static void add_command(const struct job *job, struct text *text)
{
	struct text command CLEANUP(text_done) = {0};

	role_describe_command(job_default_role(job), MOST_COMMAND_COLUMNS, &command);
	if (command.len > 0)
		add_message(text, "Command:    ", text_of(&command), "\n");
}

/* Of a job on this machine. */
static void add_places(const struct view *view, struct text *text)
{
	const struct status *status = view->status;
	const char *log = status->n_replicas > 0 ? status->replicas[0].log : NULL;
	const char *commit = json_as_string(
		json_get_path(view->object, "metadata", "annotations", JOB_ANNOTATION_COMMIT, NULL),
		NULL);
	char *folder CLEANUP(mem_free_text) = log ? file_folder_of(log) : NULL;
	char *start CLEANUP(mem_free_text) = folder ? state_folder_start(folder) : NULL;

	if (start)
		add_message(text, "Directory:  ", start, "\n");
	if (commit)
		add_message(text, "Commit:     ", commit, " (when it was created)\n");
	if (folder)
		add_message(text, "Logs:       ", folder, "\n");
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
			  view->display->words);
}

static void add_head(const struct view *view, struct text *text)
{
	const struct summary *summary = &view->summary;
	const struct status *status = view->status;
	const struct json *metadata = json_get(view->object, "metadata");
	const struct json *network =
		json_get_path(metadata, "annotations", JOB_ANNOTATION_PRIVATE_NETWORK, NULL);
	const char *elastic_id = json_as_string(
		json_get_path(metadata, "annotations", JOB_ANNOTATION_ELASTIC, NULL), NULL);

	text_addf(text, "Name:       %s\n", json_get_string(metadata, "name", ""));
	add_message(text, "State:      ", summary->state, "\n");
	if (*summary->message)
		add_message(text, "Message:    ", summary->message, "\n");
	add_command(view->job, text);
	if (!view->is_on_cluster)
		add_places(view, text);
	add_supervisor(view, text);
	if (view->operator_name && *view->operator_name)
		add_message(text, "Served:     by ", view->operator_name, "\n");
	else if (view->operator_name)
		text_add(text, "Served:     no operator manages it yet\n");
	add_message(text, "Roles:      ", summary->roles, "\n");
	if (!view->is_on_cluster && text_equals(json_as_string(network, NULL), "true"))
		text_addf(text, "Network:    private (reach it with 'muster exec %s')\n",
			  view->display->words);
	text_addf(text, "Running:    %d of %d\n", summary->running, summary->wanted);
	text_addf(text, "Restarts:   %d\n", summary->restarts);
	if (elastic_id)
		add_message(text, "Part of:    elastic job ", elastic_id, "\n");
	if (status->machines)
		add_message(text, "Machines:   ", status->machines,
			    " (in the worlds so far, the newest last)\n");
	if (status->n_ranks > 0) {
		text_add(text, "Ranks:      ");
		replica_names_add_ranks(text, status->first_rank, (int) status->n_replicas,
					status->n_ranks);
		text_add_char(text, '\n');
	}
	add_moment(view, "Started:", summary->start_time, MSEC_UNSET, text);
	add_moment(view, "Ended:", summary->completion_time, summary->start_time, text);
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
		table_add_span(&table, condition->last_transition, view->now);
		table_add(&table, condition->reason);
		/* A condition that is no longer true keeps its sentence, which is out of date. */
		table_add(&table, condition->is_true ? condition->message : NULL);
	}
	text_add_char(text, '\n');
	table_write(&table, text);
}

/* The table of replicas. */

static const char *duration_text(const struct view *view, msec duration)
{
	struct text text CLEANUP(text_done) = {0};

	text_add_duration(&text, duration);
	return arena_copy_text(view->arena, text_of(&text));
}

static const char *number_text(const struct view *view, int64_t number)
{
	return arena_format(view->arena, "%" PRId64, number);
}

/* "3", "signal 9"; NULL: it is running. */
static const char *end_text(const struct view *view, const struct replica_status *replica)
{
	if (replica->signal)
		return arena_format(view->arena, "signal %d", replica->signal);
	return replica->exit_code >= 0 ? number_text(view, replica->exit_code) : NULL;
}

static bool has_gpus(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (status->replicas[i].gpus)
			return true;
	return false;
}

/* The cells of a replica, or the headings of their columns. CPU time and memory are those of all
 * its processes, as in systemctl status. */
static void add_replica_cells(const struct view *view, size_t i, bool are_headings,
			      struct table *table)
{
	const struct replica_status *replica = &view->status->replicas[i];
	struct replica_usage none = {0}, usage = view->usage ? view->usage[i] : none;
	bool is_here = !view->is_on_cluster, is_wide = view->display->is_wide,
	     has_usage = view->usage;
	msec end = replica->end_time != MSEC_UNSET ? replica->end_time : view->now;
	const struct {
		const char *heading;
		bool is_shown;
		const char *text;
	} cells[] = {
		{"REPLICA", true,
		 arena_format(view->arena, "%s-%d", replica->role, replica->index)},
		{"STATE", true, replica_state_words[replica->state]},
		{"ATTEMPT", true, number_text(view, replica->attempt)},
		{"RESTARTS", true, number_text(view, replica->restarts)},
		{"PID", is_here, replica->pid ? number_text(view, replica->pid) : NULL},
		{"ADDRESS", is_here, replica->address},
		{"GPUS", has_gpus(view->status), replica->gpus},
		{"NODE", !is_here, replica->node},
		{"EXIT", true, end_text(view, replica)},
		{"AGE", true,
		 replica->start_time != MSEC_UNSET ? duration_text(view, end - replica->start_time)
						   : NULL},
		{"LAST OUTPUT", has_usage,
		 usage.printed_at != MSEC_UNSET ? duration_text(view, view->now - usage.printed_at)
						: NULL},
		{"CPU", has_usage, usage.n_processes ? duration_text(view, usage.used.cpu) : NULL},
		{"MEMORY", has_usage,
		 usage.n_processes
			 ? arena_format(view->arena, "%" PRId64 "Mi", usage.used.memory / MEBIBYTE)
			 : NULL},
		{"REASON", !is_here || is_wide, replica->reason},
		{"LOG", is_here && is_wide, replica->log},
		{"POD", !is_here && is_wide, replica->pod},
		{"IP", !is_here && is_wide, replica->ip},
		{"ADDRESS", !is_here && is_wide, replica->address},
	};

	for (size_t k = 0; k < ARRAY_LEN(cells); k++)
		if (cells[k].is_shown)
			table_add(table, are_headings ? cells[k].heading : cells[k].text);
}

static void add_replica_table(const struct view *view, struct text *text)
{
	struct table table CLEANUP(table_done) = {0};

	if (!view->status->n_replicas)
		return;
	add_replica_cells(view, 0, true, &table);
	table.n_columns = table.n_cells;
	for (size_t i = 0; i < view->status->n_replicas; i++)
		add_replica_cells(view, i, false, &table);
	text_add_char(text, '\n');
	table_write(&table, text);
}

/* The table of its GPUs. */

/* "worker-0, worker-1": the running replicas to which this GPU is assigned. */
static const char *users_of_gpu(const struct view *view, int number)
{
	struct text users CLEANUP(text_done) = {0};

	for (size_t i = 0; i < view->status->n_replicas; i++) {
		const struct replica_status *replica = &view->status->replicas[i];

		if (replica->pid > 0 && gpus_names_have(replica->gpus, number))
			text_addf(&users, "%s%s-%d", users.len ? ", " : "", replica->role,
				  replica->index);
	}
	return users.len ? arena_copy_text(view->arena, text_of(&users)) : NULL;
}

/* "python3 (4711) 12000Mi, another user's (812) 300Mi" */
static const char *processes_text(const struct view *view, const struct gpu_load *load)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < load->n_processes; i++) {
		const struct gpu_process *process = &load->processes[i];
		char name[PROCESS_NAME_SIZE] = "another";

		(void) process_read_name((pid_t) process->pid, name);
		text_add(&text, i ? ", " : "");
		line_text_add_sentence(&text, name, strlen(name));
		text_addf(&text, " (%" PRId64 ")", process->pid);
		if (process->memory >= 0)
			text_addf(&text, " %" PRId64 "Mi", process->memory / MEBIBYTE);
	}
	return load->n_processes ? arena_copy_text(view->arena, text_of(&text)) : NULL;
}

static const char *measure_text(const struct view *view, int64_t number, const char *unit)
{
	return number < 0 ? NULL : arena_format(view->arena, "%" PRId64 "%s", number, unit);
}

static void add_gpu_table(const struct view *view, struct text *text)
{
	static const char *const headings[] = {"GPU",         "USED BY", "BUSY",     "MEMORY",
					       "TEMPERATURE", "POWER",   "PROCESSES"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};
	struct gpu_loads *loads CLEANUP(mem_free_any) = mem_new(sizeof(*loads));
	struct err err = {0};

	if (nvml_loads(view->arena, loads, &err) < 0)
		add_message(text, "\nGPUs: ", err.text, "\n");
	for (size_t i = 0; i < loads->count; i++) {
		const struct gpu_load *load = &loads->list[i];
		const char *users = users_of_gpu(view, load->number);

		if (!users)
			continue;
		if (table.n_cells == 0)
			table_add_row(&table, headings);
		table_add(&table, number_text(view, load->number));
		table_add(&table, users);
		table_add(&table, measure_text(view, load->busy, "%"));
		table_add(&table, load->memory < 0 ? NULL
						   : arena_format(view->arena,
								  "%" PRId64 "Mi of %" PRId64 "Mi",
								  load->memory_used / MEBIBYTE,
								  load->memory / MEBIBYTE));
		table_add(&table, measure_text(view, load->degrees, " C"));
		table_add(&table,
			  measure_text(view, load->milliwatts < 0 ? -1 : load->milliwatts / 1000,
				       " W"));
		table_add(&table, processes_text(view, load));
	}
	text_add(text, table.n_cells ? "\n" : "");
	table_write(&table, text);
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
		struct output_idle *silence = &silences[count++];

		*silence = (struct output_idle){
			.role = replica->role, .index = replica->index, .is_watched = true};
		output_idle_record_start(silence, replica->start_time);
		output_idle_record_output(silence, view->usage[i].printed_at);
		silence->patience = view->now - life;
		silence->is_told = silence->patience >= OUTPUT_IDLE_FIRST;
	}
	output_idle_add_lasting(silences, count, &sentence);
	if (sentence.len == 0)
		return;
	output_idle_add_cause(silences, count, view->job, &sentence);
	text_addf(text, "\nSilence:\n  %s\n  to see the stacks: muster stacks %s\n",
		  text_of(&sentence), view->display->words);
}

static void add_failure_section(const struct view *view, struct text *text)
{
	if (!view->status->failure)
		return;
	const struct failure_style style = {.offset = offset_at(view, view->status->failure->time)};

	text_add(text, status_condition_is_true(view->status, CONDITION_FAILED)
			       ? "\nFailure:\n"
			       : "\nCause of the last restart:\n");
	failure_describe(view->status, view->display->words, &style, text);
}

static bool is_any_running(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (status->replicas[i].pid > 0)
			return true;
	return false;
}

static int read_view(const struct json *object, const struct status *status, struct view *view,
		     struct err *err)
{
	view->arena = arena_new();
	if (client_read_job(object, &view->job, err) < 0)
		return ERR_IO;
	view->object = object;
	view->status = status;
	view->supervisor =
		json_as_string(json_get_path(object, "status", CLIENT_SUPERVISED_BY, NULL), NULL);
	view->operator_name =
		json_as_string(json_get_path(object, "status", CLIENT_SERVED_BY, NULL), NULL);
	view->is_on_cluster = view->supervisor || view->operator_name || status_has_pods(status);
	view->now = loop_now();
	summary_create(view->job, status, view->arena, &view->summary);
	return 0;
}

static void add_all(struct view *view, struct text *text)
{
	const struct status *status = view->status;
	const char *uid = json_as_string(json_get_path(view->object, "metadata", "uid", NULL), "");
	bool is_running_here = !view->is_on_cluster && is_any_running(status);
	struct replica_usage *usage CLEANUP(mem_free_any) =
		is_running_here ? job_processes_usage(uid, status) : NULL;
	struct text waiting CLEANUP(text_done) = {0};

	view->usage = usage;
	add_head(view, text);
	add_replica_table(view, text);
	if (is_running_here && has_gpus(status))
		add_gpu_table(view, text);
	if (!status_is_finished(status))
		waiting_reasons_describe(status, "  ", &waiting);
	if (waiting.len)
		text_addf(text, "\nWaiting:\n%s", text_of(&waiting));
	add_silence(view, text);
	add_conditions(view, text);
	add_failure_section(view, text);
}

/* A line that changes whenever the job changes, for logs and pipes. */
static void add_line(const struct view *view, struct text *text)
{
	const struct summary *summary = &view->summary;

	add_message(text, "", summary->state, "");
	text_addf(text, "%s  running %d/%d  restarts %d",
		  text_equals(view->supervisor, "") ? " (unsupervised)" : "", summary->running,
		  summary->wanted, summary->restarts);
	if (*summary->message)
		add_message(text, "  ", summary->message, "");
	text_add_char(text, '\n');
}

/* The command. */

static void display_done(struct display *display)
{
	text_done(&display->last);
	mem_free_text(&display->words);
}

static bool show_job(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0}, screen CLEANUP(text_done) = {0};
	bool is_over = !display->is_watched || watch_is_over(object, status, NULL);

	display->has_ended = status_is_finished(status);
	if (text_equals(display->format, "name")) {
		text_addf(&text, "%s/%s\n", display->where,
			  json_as_string(json_get_path(object, "metadata", "name", NULL), ""));
		output_add(&text);
		return true;
	}
	if (display->format && !text_equals(display->format, "wide")) {
		output_add_object(object, display->format);
		return !output_flush() || is_over;
	}
	struct view view CLEANUP(view_done) = {.display = display};

	if (read_view(object, status, &view, &display->err) < 0)
		return true;
	if (display->is_watched && !display->is_drawn)
		add_line(&view, &text);
	else
		add_all(&view, &text);
	if (!display->is_drawn)
		return output_add_changed(&text, output_add, &display->last) || is_over;
	redraw_add(text_of(&text), is_over, &screen);
	return output_add_changed(&screen, output_add_screen, &display->last) || is_over;
}

/* Returns the exit code, or an error of the job's client. On a terminal, durations advance. */
static int try_to_show(const struct options *options, const struct found_job *job, struct err *err)
{
	bool is_watched = option_flag(options, "watch");
	struct display display CLEANUP(display_done) = {
		.where = job->where,
		.format = option_text(options, "output"),
		.is_wide = option_is_given(options, "output"),
		.is_local = times_are_local(options),
		.is_watched = is_watched,
		.is_drawn = is_watched && terminal_understands_escapes(STDOUT_FILENO),
	};
	msec period = display.is_drawn ? MSEC_PER_SECOND : MSEC_NEVER;
	enum watch_end end;

	display.words = found_job_words(job);
	if (watch_job(job->client, job->name, INSTANT_NEVER, period, show_job, &display, &end, err))
		return err->code;
	if (display.err.code)
		return output_fail(&display.err);
	if (end == WATCH_GONE && !display.has_ended)
		output_print_message("job '%s' was deleted", job->name);
	return EXIT_DONE;
}

/* A job that was found by its record and is still active has another name since the lookup. */
static int show_found(const struct options *options, struct lookup *lookup,
		      const struct found_job *job)
{
	struct found_job again = {0};
	struct err err = {0};
	int rc = try_to_show(options, job, &err);

	if (rc == ERR_NOT_FOUND && lookup_job(lookup, job->name, &again, &err) == 0)
		rc = try_to_show(options, &again, &err);
	return rc < 0 ? output_fail(&err) : rc;
}

static int status_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs = {0};
	size_t n_arguments = options_n_arguments(options);
	const char *format = option_text(options, "output");
	struct found_job newest = {0};
	struct err err = {0};

	if (option_text(options, "rdzv-endpoint"))
		return elastic_status(options);
	if (n_arguments == 0)
		return lookup_newest_job(lookup, &newest, &err)
			       ? output_fail(&err)
			       : show_found(options, lookup, &newest);
	if (n_arguments > 1 && option_flag(options, "watch"))
		return output_fail_with(
			EXIT_USAGE, "-w: follows one job only; to follow all jobs: 'muster ps -w'");
	int exit_code = lookup_jobs(lookup, &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		struct text separator CLEANUP(text_done) = {0};

		/* Between two jobs. */
		if (i > 0 && (!format || text_equals(format, "wide")))
			text_add(&separator, "\n");
		else if (i > 0 && text_equals(format, "yaml"))
			text_add(&separator, "---\n");
		output_add(&separator);
		int shown = show_found(options, lookup, &jobs.list[i]);

		exit_code = exit_code ? exit_code : shown;
	}
	return exit_code;
}

static const struct option_row rows_of_status[] = {
	FLAG("watch", "keep watching until the job ends", .letter = 'w'),
	WORDS("output", "json|yaml|wide|name", NULL,
	      "print the TFJob with its status, more columns, or only the name", .letter = 'o'),
	UTC_ROW(OPTIONS_OF_COMMAND),
	ELASTIC_STATUS_ROWS,
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_status = {
	.name = "status",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB...]",
	.one_line = "show a job's state, its replicas, and why it failed",
	.examples = "  muster status\n"
		    "  muster status digits-x7k2p\n"
		    "  muster status -w digits-x7k2p\n"
		    "  muster status -o wide kubernetes/research/digits-x7k2p\n"
		    "  muster status --rdzv-endpoint 10.0.0.1 digits\n"
		    "  muster status -o json digits-x7k2p | jq .status.replicas\n",
	.options = rows_of_status,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = status_run,
};

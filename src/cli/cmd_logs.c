/* muster logs: the stored output of a job's replicas, and new output as they print it. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/local_jobs.h"
#include "cli/replica_name.h"
#include "cli/watch.h"
#include "console/line_format.h"
#include "console/log_view.h"
#include "console/screen.h"
#include "io/folder.h"
#include "io/loop.h"
#include "io/sink.h"
#include "io/terminal.h"
#include "logs/folder.h"
#include "logs/reader.h"
#include "spec/job.h"
#include "spec/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

struct logs {
	const struct options *options;
	struct lookup *lookup;
	const char *argument; /* the job's name as given */
	struct found_job found;
	struct job_state state;
	bool is_over; /* nothing will be written any more */
	char *folder;
	/* If the job's own directory is on another machine: `folder` is temporary. */
	struct client_logs *fetched;
	bool is_temporary;
	struct log_selection selection;
	struct log_name *replicas; /* of the selection */
	bool is_one_of_several; /* jobs */
	bool comes_bit_by_bit; /* lines are printed while they are fetched */

	struct loop *loop;
	struct screen *lines;
	struct screen *chatter; /* may be the same */
	struct line_format format;
	struct log_view *view;
	struct folder_watch *watch; /* while it follows, until this program exits */
	bool is_ending; /* all present lines are printed, and no more are read */
	struct loop_watch *interrupt, *termination;
	int exit_code;
};

static void logs_done(struct logs *logs)
{
	struct err err = {0};

	folder_watch_free(logs->watch);
	loop_watch_free(logs->interrupt);
	loop_watch_free(logs->termination);
	log_view_free(logs->view);
	if (logs->chatter != logs->lines)
		screen_free(logs->chatter);
	screen_free(logs->lines);
	line_format_done(&logs->format);
	if (logs->fetched)
		logs->found.client->functions->end_logs(logs->fetched);
	if (logs->is_temporary && folder_remove(AT_FDCWD, logs->folder, &err) < 0)
		output_print_message("%s", err.text);
	loop_free(logs->loop);
	mem_free_text(&logs->folder);
	free(logs->replicas);
	job_state_done(&logs->state);
	lookup_free(logs->lookup);
}

static bool wants_to_follow(const struct logs *logs)
{
	return option_flag(logs->options, "follow") && !logs->is_over &&
	       !logs->selection.is_previous;
}

/* The end. */

static void on_shown(void *data)
{
	struct logs *logs = data;

	loop_stop(logs->loop);
}

static void end_following(struct logs *logs)
{
	logs->is_ending = true;
	log_view_finish(logs->view, on_shown, logs);
}

/* Lines that are printed while they are fetched come in the order of their times, as from a
 * directory with all of them. */
static void hold_incomplete_lines(struct logs *logs)
{
	if (logs->comes_bit_by_bit && !wants_to_follow(logs))
		log_reader_hold(log_view_reader(logs->view),
				logs->found.client->functions->logs_known_until(logs->fetched));
}

/* More lines may be printed, though none has arrived. */
static void on_known(void *data)
{
	struct logs *logs = data;

	if (!logs->view || logs->is_ending)
		return;
	hold_incomplete_lines(logs);
	log_view_on_news(logs->view);
}

/* All lines have been fetched. */
static void on_fetched(void *data)
{
	struct logs *logs = data;

	if (!logs->view) {
		loop_stop(logs->loop);
	} else if (!logs->is_ending) {
		log_reader_hold(log_view_reader(logs->view), MSEC_NEVER);
		end_following(logs);
	}
}

/* The job and its logs. */

static int read_logged_job(struct logs *logs, struct err *err)
{
	int rc = job_state_read_job(&logs->found, &logs->state, err);

	if (rc == 0)
		logs->is_over = watch_is_over(logs->state.object, &logs->state.status, NULL);
	return rc;
}

/* So that a live line is erased from the screen, and fetched files are deleted. */
static void on_logs_signal(int signal_number, void *data)
{
	struct logs *logs = data;

	if (logs->lines) {
		screen_set_bars(logs->lines, "");
		screen_begin(logs->lines);
		screen_end(logs->lines);
	}
	logs->exit_code = EXIT_BY_SIGNAL + signal_number;
	loop_stop(logs->loop);
}

/* Readers read the fetched lines of all replicas and attempts; the others are not fetched to begin
 * with. Only the reader searches for a pattern. */
static int fetch_logs(struct logs *logs, struct err *err)
{
	const struct log_selection *selection = &logs->selection;
	bool is_counted = selection->tail >= 0 || selection->is_previous; /* from the end */
	struct client *client = logs->found.client;
	int rc = temporary_folder_create("muster-logs", &logs->folder, err);
	const struct client_logs_request request = {
		.loop = logs->loop,
		.folder = logs->folder,
		.role = selection->role,
		.index = selection->index,
		.attempt = selection->attempt,
		.since = selection->since,
		.tail = selection->pattern && !wants_to_follow(logs) ? -1 : selection->tail,
		.follows = wants_to_follow(logs),
		.on_known = on_known,
		.on_over = on_fetched,
		.on_trouble = output_print_sentence,
		.data = logs,
	};

	logs->is_temporary = rc == 0;
	logs->comes_bit_by_bit = wants_to_follow(logs) || !is_counted;
	if (rc == 0)
		rc = client->functions->fetch_logs(client, logs->found.name, &request,
						   &logs->fetched, err);
	if (rc < 0)
		return rc;
	logs->interrupt = loop_watch_signal(logs->loop, SIGINT, on_logs_signal, logs);
	logs->termination = loop_watch_signal(logs->loop, SIGTERM, on_logs_signal, logs);
	if (!logs->comes_bit_by_bit) {
		loop_run(logs->loop);
		client->functions->end_logs(TAKE(logs->fetched));
	}
	return 0;
}

static bool has_wanted_log(const struct log_selection *selection, const struct log_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++) {
		bool has_previous =
			i > 0 && log_name_same_stream(&folder->names[i - 1], &folder->names[i]);

		if (log_selection_has(selection, &folder->names[i]) &&
		    (has_previous || !selection->is_previous))
			return true;
	}
	return false;
}

/* The selection as a name: "worker-7", "worker", "attempt 3 of worker-7". */
static void describe_wanted(const struct log_selection *selection, struct text *text)
{
	if (selection->attempt >= 0)
		text_addf(text, "attempt %d of ", selection->attempt);
	text_add(text, selection->role ? selection->role : "any role");
	if (selection->index >= 0)
		text_addf(text, "-%d", selection->index);
}

static int refuse_log_selection(const struct logs *logs, const struct log_selection *selection,
				const struct log_folder *folder, struct err *err)
{
	struct text wanted CLEANUP(text_done) = {0};
	struct text others CLEANUP(text_done) = {0};
	bool is_narrow = selection->role || selection->index >= 0 || selection->attempt >= 0;

	if (folder->count == 0 && logs->is_temporary && is_narrow) {
		describe_wanted(selection, &wanted);
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no log of %s", logs->found.name,
			       text_of(&wanted));
	}
	if (folder->count == 0)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no logs%s", logs->found.name,
			       logs->is_over ? "" : " so far; -f waits for them");
	log_folder_describe_replicas(folder, &others);
	if (selection->is_previous)
		return err_set(err, ERR_NOT_FOUND,
			       "none of these replicas was started more than once; job '%s' has "
			       "logs of %s",
			       logs->found.name, text_of(&others));
	describe_wanted(selection, &wanted);
	return err_set(err, ERR_NOT_FOUND, "job '%s' has no log of %s: it has %s", logs->found.name,
		       text_of(&wanted), text_of(&others));
}

static int check_one(const struct logs *logs, const struct log_selection *selection,
		     bool more_may_come, struct err *err)
{
	struct log_folder folder CLEANUP(log_folder_done);
	bool is_changed;

	log_folder_init(&folder, logs->folder);
	int rc = log_folder_read(&folder, &is_changed, err);

	if (rc < 0 || has_wanted_log(selection, &folder))
		return rc;
	/* The job has a selected replica, so its log may still appear. */
	for (size_t i = 0; more_may_come && i < logs->state.job->n_roles; i++) {
		const struct role *role = &logs->state.job->roles[i];

		if ((!selection->role || strcmp(selection->role, role->name) == 0) &&
		    selection->index < role->replicas)
			return 0;
	}
	return refuse_log_selection(logs, selection, &folder, err);
}

/* ERR_NOT_FOUND, with a list of the existing logs, when no selected log exists or may appear. */
static int check_logs(const struct logs *logs, bool more_may_come, struct err *err)
{
	struct log_selection one = logs->selection;
	int rc = 0;

	if (one.n_replicas == 0)
		return check_one(logs, &one, more_may_come, err);
	one.n_replicas = 0;
	for (size_t i = 0; rc == 0 && i < logs->selection.n_replicas; i++) {
		one.role = logs->replicas[i].role;
		one.index = logs->replicas[i].index;
		rc = check_one(logs, &one, more_may_come, err);
	}
	return rc;
}

/* Printing. */

/* The reader of our output closes it when it has read enough. */
static void on_logs_room(void *data)
{
	struct logs *logs = data;

	if (screen_is_gone(logs->lines))
		loop_stop(logs->loop);
	else if (logs->view)
		log_view_on_room(logs->view);
}

static int set_up_view(struct logs *logs, struct err *err)
{
	const char *color = option_text(logs->options, "color");
	struct log_reader *reader;
	int rc = log_reader_new(logs->folder, &logs->selection, &reader, err);

	if (rc)
		return rc;
	bool is_same = sink_is_same(STDOUT_FILENO, STDERR_FILENO);

	logs->lines = screen_new(logs->loop, STDOUT_FILENO, on_logs_room, logs);
	logs->chatter = is_same ? logs->lines : screen_new(logs->loop, STDERR_FILENO, NULL, NULL);
	logs->format = (struct line_format){
		.has_name = option_flag(logs->options, "prefix"),
		.has_time = option_flag(logs->options, "timestamps"),
		.is_local = times_are_local(logs->options),
		.has_color = terminal_wants_color(STDOUT_FILENO, color),
		.is_safe = isatty(STDOUT_FILENO),
	};
	if (logs->is_one_of_several)
		logs->format.job_name = logs->found.name;
	line_format_fit_job(&logs->format, logs->state.job);
	const struct log_view_settings settings = {
		.loop = logs->loop,
		.take_reader = reader,
		.outlet = {logs->lines, &logs->format},
		.attempts_screen = logs->chatter,
	};

	logs->view = log_view_new(&settings);
	if (screen_is_live(logs->lines) && !logs->interrupt)
		logs->interrupt = loop_watch_signal(logs->loop, SIGINT, on_logs_signal, logs);
	return 0;
}

/* Following. */

static void on_folder_news(enum folder_news news, const char *file_name, void *data)
{
	struct logs *logs = data;

	if (logs->is_ending)
		return;
	hold_incomplete_lines(logs);
	if (news == FOLDER_GONE) {
		end_following(logs);
		return;
	}
	log_view_on_news(logs->view);
	/* Of fetched logs, on_fetched is called when it is over. */
	if (news == FOLDER_CHANGED || logs->is_temporary)
		return;
	if (!file_name) {
		if (read_logged_job(logs, NULL) != 0 || logs->is_over)
			end_following(logs);
	} else if (strcmp(file_name, "muster.log") == 0) {
		/* The supervisor's own log: it has exited and writes no more. */
		(void) !watch_until_settled(logs->found.client, logs->found.name, NULL);
		(void) !read_logged_job(logs, NULL);
		end_following(logs);
	}
}

static int show_job_logs(struct logs *logs, bool more_may_come, struct err *err)
{
	int rc = set_up_view(logs, err);

	/* Watches first and reads then, so that no finish between the two is missed. */
	if (rc == 0 && more_may_come)
		rc = folder_watch_new(logs->loop, logs->folder, on_folder_news, logs, &logs->watch,
				      err);
	/* What is fetched has its own end, on_fetched. */
	if (rc == 0 && more_may_come && !logs->is_temporary) {
		rc = read_logged_job(logs, err);
		if (rc == 0 && logs->is_over)
			end_following(logs);
	}
	if (rc)
		return rc;
	if (!more_may_come)
		log_view_finish(logs->view, on_shown, logs);
	loop_run(logs->loop);
	return 0;
}

/* The exit code, by the lines that were printed or not found. */
static int exit_code_of(const struct logs *logs)
{
	int failure = screen_failure(logs->lines);

	if (logs->exit_code != EXIT_DONE)
		return logs->exit_code;
	if (failure && failure != EPIPE)
		return output_fail_with(EXIT_FAILED, "cannot write the output: %s",
					strerror(failure));
	if (!failure && logs->selection.pattern && log_view_count(logs->view) == 0)
		return output_fail_with(EXIT_FAILED, "no line matches '%s'",
					logs->selection.pattern);
	return EXIT_DONE;
}

/* If the job's cluster cannot be reached, the lines on this machine are printed all the same. */
static int find_logged_job(struct logs *logs, struct err *err)
{
	struct found_job *found = &logs->found;

	logs->lookup = lookup_new(logs->options);
	int rc = lookup_job(logs->lookup, logs->argument, found, err);
	bool is_cut_off = rc != 0 && rc != ERR_NOT_FOUND &&
			  lookup_remembered(logs->lookup, logs->argument, found, NULL) == 0;

	if (rc != 0 && !is_cut_off)
		return rc;
	if (is_cut_off)
		output_print_message(
			"%s; printing the output of job '%s' that is stored on this machine",
			err->text, found->name);
	if (read_logged_job(logs, err) || loop_new(&logs->loop, err))
		return err->code;
	logs->is_over = logs->is_over || is_cut_off; /* no more lines come */
	/* The directory of the job's logs. The logs of a job on a cluster come from its Pods if no
	 * process of this machine supervises it. */
	rc = found->client->functions->log_folder(found->client, found->name, &logs->folder, err);
	return rc == ERR_NOT_FOUND && found->client->functions->fetch_logs ? fetch_logs(logs, err)
									   : rc;
}

/* The selection. */

/* Reads --role, --index … --grep; the texts are borrowed from the options. */
static int read_selection(const struct options *options, struct log_selection *ret_selection,
			  struct err *err)
{
	*ret_selection = (struct log_selection){
		.line_limit = option_flag(options, "prefix") ? 0 : LIMIT_WHOLE_LINE,
		.role = option_text(options, "role"),
		.index = (int) option_number(options, "index", -1),
		.attempt = (int) option_number(options, "attempt", -1),
		.is_previous = option_flag(options, "previous"),
		.tail = option_number(options, "tail", -1),
		.since = MSEC_UNSET,
		.pattern = option_text(options, "grep"),
	};
	if (ret_selection->is_previous && ret_selection->attempt >= 0)
		return err_set(err, ERR_INVALID, "--previous: cannot be used with --attempt");
	return option_is_given(options, "since")
		       ? option_moment(options, "since", loop_now(), &ret_selection->since, err)
		       : 0;
}

/* The words after a job that are its replicas; returns their number. A single one is like --role
 * and --index, so that only its log is fetched from a cluster. */
static size_t parse_log_replicas(struct logs *logs, const char *const *words, size_t count)
{
	struct log_selection *selection = &logs->selection;
	size_t n_replicas = 0;

	logs->replicas = mem_new_array(count + 1, sizeof(*logs->replicas));
	while (n_replicas < count &&
	       replica_name_read_known(words[n_replicas], &logs->replicas[n_replicas]))
		n_replicas++;
	if (n_replicas == 1) {
		selection->role = logs->replicas[0].role;
		selection->index = logs->replicas[0].index;
	} else {
		selection->replicas = logs->replicas;
		selection->n_replicas = n_replicas;
	}
	return n_replicas;
}

static int show_logs(struct logs *logs)
{
	struct err err = {0};

	if (find_logged_job(logs, &err))
		return output_fail(&err);
	if (logs->exit_code != EXIT_DONE)
		return logs->exit_code;
	bool follows = wants_to_follow(logs), more_may_come = follows || logs->comes_bit_by_bit;

	if (check_logs(logs, more_may_come, &err) || show_job_logs(logs, more_may_come, &err))
		return output_fail(&err);
	if (logs->is_ending && check_logs(logs, follows, &err))
		return output_fail(&err);
	return exit_code_of(logs);
}

/* Prints the job that the first word names (without a word the newest) and its replicas. Returns
 * the number of words used. */
static size_t show_next(const struct options *options, const char *const *words, size_t count,
			bool is_one_of_several, int *ret_exit_code)
{
	struct logs logs CLEANUP(logs_done) = {
		.options = options, .argument = words[0], .is_one_of_several = is_one_of_several};
	struct err err = {0};
	size_t n_used = count > 0;

	if (read_selection(options, &logs.selection, &err)) {
		*ret_exit_code = output_fail(&err);
		return count;
	}
	n_used += parse_log_replicas(&logs, words + n_used, count - n_used);
	*ret_exit_code = show_logs(&logs);
	return n_used;
}

/* "muster logs JOB 1", "muster logs JOB worker": such a word is meant as a replica, not as a
 * job. */
static bool check_words(const char *const *words, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		bool is_number = strspn(words[i], "0123456789") == strlen(words[i]);
		char *name CLEANUP(mem_free_text) = mem_format("%s-0", words[i]);

		if (!is_number && !replica_name_read_known(name, &(struct log_name){0}))
			continue;
		output_print_message("%s: write a replica as ROLE-INDEX (worker-0), or use --%s %s",
				     words[i], is_number ? "index" : "role", words[i]);
		return false;
	}
	return true;
}

static int logs_run(const struct options *options)
{
	const char *const *words = options_arguments(options);
	size_t count = options_n_arguments(options), n_jobs = 1, at = 0;
	int exit_code = EXIT_DONE;

	for (size_t i = 1; i < count; i++)
		n_jobs += !replica_name_read_known(words[i], &(struct log_name){0});
	if (!check_words(words, count))
		return EXIT_USAGE;
	if (n_jobs > 1 && option_flag(options, "follow"))
		return output_fail_with(EXIT_USAGE,
					"-f: follows one job only; run one command per job");
	if (count > n_jobs &&
	    (option_is_given(options, "role") || option_is_given(options, "index")))
		return output_fail_with(EXIT_USAGE,
					"--role, --index: cannot be used with a replica name");

	do {
		int shown;

		at += show_next(options, words + at, count - at, n_jobs > 1, &shown);
		exit_code = shown ? shown : exit_code;
	} while (at < count && exit_code < EXIT_BY_SIGNAL);
	return exit_code;
}

static const struct option_row rows_of_logs[] = {
	FLAG("follow", "keep printing new output, across restarts, until the job ends",
	     .letter = 'f'),
	OPTION("role", TEXT, "ROLE", NULL, "only replicas of this role: worker, ps, chief …"),
	OPTION("index", NUMBER, "I", NULL, "only replicas with this index", .low = 0,
	       .high = INT32_MAX),
	OPTION("attempt", NUMBER, "A", NULL, "only this attempt (the first is 0)", .low = 0,
	       .high = INT32_MAX),
	FLAG("previous", "only the previous attempt of each replica", .letter = 'p'),
	OPTION("tail", NUMBER, "N|all", NULL, "only the last N lines of each replica", .low = -1,
	       .high = INT64_MAX, .words = "all"),
	OPTION("since", TEXT, "TIME", NULL,
	       "only lines since this time: 10m (ago) or 2026-01-02T03:04:05Z"),
	OPTION("grep", TEXT, "RE", NULL, "only lines that match this extended regular expression"),
	OPTION("prefix", FLAG, NULL, "true", "print the replica's name before each line"),
	FLAG("timestamps", "print the time of each line before it", .letter = 't'),
	UTC_ROW(OPTIONS_OF_COMMAND),
	WORDS("color", "auto|always|never", "auto",
	      "color the names (auto: on a terminal, unless NO_COLOR is set)",
	      .has_variable = true),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_logs = {
	.name = "logs",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB [ROLE-INDEX...]]\n"
		     "[OPTIONS] JOB JOB...",
	.one_line = "print the output of a job's replicas",
	.examples = "  muster logs -f digits-x7k2p\n"
		    "  muster logs --tail 20 digits-x7k2p worker-1\n"
		    "  muster logs --previous --grep 'Error|Warning' digits-x7k2p\n",
	.options = rows_of_logs,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = logs_run,
};

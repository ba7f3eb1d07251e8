#include "cli/run_here.h"

#include "base/exit_code.h"
#include "cli/lookup.h"
#include "cli/replica_name.h"
#include "command/command.h"
#include "console/line_format.h"
#include "io/own_scope.h"
#include "io/terminal.h"
#include "jobs/processes.h"
#include "spec/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Narrower rows are not for bars. */
#define MIN_COLUMNS 20

/* Of one that may have to wait: "runs", or "waits for 2 GPUs". */
static const char *state_of_detached(struct lookup *lookup, const char *name, struct arena *arena)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct status status = {0};
	struct client *client;

	if (lookup_client(lookup, NULL, NULL, &client, NULL) < 0 ||
	    client->functions->get(client, name, &object, NULL) < 0 ||
	    status_read(json_get(object, "status"), arena, &status, NULL) < 0 ||
	    !status_condition_is_true(&status, CONDITION_QUEUED))
		return "runs";
	return status_condition(&status, CONDITION_QUEUED)->message;
}

int detached_report(const struct options *options, const char *namespace_name,
		    const struct job *job)
{
	const char *name = job->name;
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *object CLEANUP(json_cleanup) = NULL;
	char *words CLEANUP(mem_free_text) = lookup_words(options, namespace_name, name);
	const char *format = option_text(options, "output"), *above = getenv(JOB_NAME_VARIABLE);
	struct text line CLEANUP(text_done) = {0};
	struct client *client;
	struct err err = {0};

	if (format) {
		if (lookup_client(lookup, namespace_name, namespace_name, &client, &err) ||
		    client->functions->get(client, name, &object, &err))
			return output_fail(&err);
		output_add_object(object, format);
		return EXIT_DONE;
	}
	text_addf(&line, "%s\n", name);
	output_add(&line);
	output_flush();
	if (option_flag(options, "quiet"))
		return EXIT_DONE;
	/* When a job ends, muster kills all processes that its processes have started, also another
	 * muster process in the background. */
	bool is_inside = getenv(ENVIRONMENT_JOB_MARK) && above;

	output_print_message("the job %s in the background%s%s%s; to follow its output: muster "
			     "logs -f %s",
			     !namespace_name && job->waits_for_gpus
				     ? state_of_detached(lookup, name, arena)
				     : "runs",
			     is_inside ? " until job '" : "", is_inside ? above : "",
			     is_inside ? "', which started it, ends" : "", words);
	return EXIT_DONE;
}

/* A terminal stays ours, so that Ctrl-C stops the whole job; a file or a pipe becomes the
 * replica's. */
static int open_input(const struct options *options, const struct job *job,
		      struct replica_input *ret_input, struct err *err)
{
	const char *word = option_text(options, "stdin");

	*ret_input = (struct replica_input){0};
	if (!word)
		return 0;
	if (option_flag(options, "detach"))
		return err_set(err, ERR_INVALID, "--stdin: cannot be used with --detach");
	if (replica_name_take_log_name(word, &ret_input->name, err) < 0)
		return err_prefix(err, "--stdin");
	const struct role *role = job_role(job, ret_input->name.role);

	if (!role || ret_input->name.index >= role->replicas)
		return err_set(err, ERR_INVALID, "--stdin: job '%s' has no replica '%s'", job->name,
			       word);
	if (isatty(STDIN_FILENO))
		return typed_lines_open(&ret_input->fd, err);
	ret_input->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return ret_input->fd < 0 ? err_set_errno(err, errno, "--stdin") : 0;
}

/* How much of a row is not a replica's. */
static int columns_of_names(const struct job *job, const struct console_style *style)
{
	struct line_format format CLEANUP(line_format_done) = {0};

	line_format_fit_job(&format, job);
	return style->hides_names ? 0 : format.width + (int) strlen(" | ");
}

/* A replica's output is a pipe, and still its bars appear on a terminal: the libraries that ask for
 * that (rich, and what is made with it) are told so, and how much of a row is theirs. They inherit
 * it from this process; a user's own value stays. */
static void describe_terminal(int name_columns)
{
	int columns = terminal_size(STDOUT_FILENO).columns - name_columns;
	char number[16];

	snprintf(number, sizeof(number), "%d", columns);
	setenv("TTY_COMPATIBLE", "1", false);
	if (columns >= MIN_COLUMNS)
		setenv("COLUMNS", number, false);
}

/* A user's manager ends with the last session of the user, unless that user may linger. */
static void warn_of_logout(void)
{
	const char *user = getenv("USER");
	char *file CLEANUP(mem_free_text) =
		mem_format("/var/lib/systemd/linger/%s", user ? user : "");

	if (geteuid() != 0 && access(file, F_OK) < 0)
		output_print_message("with limits, the job ends when you log out; to keep it: "
				     "loginctl enable-linger");
}

void run_limit_here(const struct job *job, bool is_detached)
{
	struct job_limits limits = job_limits(job);
	const struct own_scope scope = {
		.name = job->name, .cores = limits.cores, .memory = limits.memory};
	struct err err;
	int rc = 0;

	if (limits.cores <= 0 && limits.memory <= 0)
		return;
	/* Slurm has a group of its own for each step. */
	if (getenv("SLURM_JOB_ID"))
		rc = err_set(&err, ERR_UNSUPPORTED, "Slurm has its own");
	else
		rc = own_scope_enter(&scope, &err);
	if (rc < 0)
		output_print_message("%s%s%s: ignored on this machine (%s)",
				     limits.memory > 0 ? "memory limit" : "",
				     limits.memory > 0 && limits.cores > 0 ? ", " : "",
				     limits.cores > 0 ? "CPU limit" : "", err.text);
	else if (is_detached)
		warn_of_logout();
}

int run_here(const struct options *options, const char *state_folder,
	     const struct supervisor_request *request)
{
	char *words CLEANUP(mem_free_text) = lookup_words(options, NULL, request->job->name);
	struct console_options console CLEANUP(console_options_done) = {0};
	const struct console_style *added = &request->base.style;
	/* --log-dir of `launch` is already a pattern. */
	char *copies CLEANUP(mem_free_text) = mem_copy_text(request->base.copy_pattern);
	struct supervisor_request whole = *request;
	int exit_code = EXIT_INTERNAL;
	struct err err = {0};

	if (console_options_read(options, request->job, &console, &err) < 0 ||
	    (!copies && console_options_prepare_copies(options, request->job, &copies, &err) < 0) ||
	    open_input(options, request->job, &whole.input, &err) < 0)
		return output_fail_with(EXIT_USAGE, "%s", err.text);
	whole.base.job_words = words;
	whole.base.state_folder = state_folder;
	whole.base.notify = option_text(options, "notify");
	whole.base.is_detached = option_flag(options, "detach");
	whole.base.prints_json = option_text(options, "output") != NULL;
	/* What the options say, and what the caller adds. */
	console.style.is_quiet |= added->is_quiet;
	console.style.hides_names |= added->hides_names;
	console.style.streams = added->streams;
	console.style.streams.are_apart |= option_flag(options, "separate-stderr");
	whole.base.style = console.style;
	whole.base.copy_pattern = copies;
	whole.replaces_finished = option_flag(options, "replace");
	whole.has_terminals = option_flag(options, "tty");
	whole.name_columns = columns_of_names(request->job, &console.style);
	if (whole.has_terminals && console.style.streams.are_apart)
		return output_fail_with(EXIT_USAGE, "--tty: a terminal has both streams; it cannot "
						    "be used with --separate-stderr");
	if (!whole.base.is_detached && !console.style.is_quiet && !whole.has_terminals &&
	    terminal_understands_escapes(STDOUT_FILENO))
		describe_terminal(whole.name_columns);
	if (supervisor_run(&whole, &exit_code, &err) < 0) {
		output_print_message("%s", err.text);
		return err.code == ERR_EXISTS ? EXIT_USAGE : EXIT_INTERNAL;
	}
	return whole.base.is_detached ? detached_report(options, NULL, request->job) : exit_code;
}

int run_remove_finished(const struct options *options, const char *namespace_name, const char *name,
			int exit_code)
{
	if (exit_code != EXIT_DONE || !option_flag(options, "rm"))
		return exit_code;
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	char *argument CLEANUP(mem_free_text) = namespace_name
							? job_words_new(namespace_name, name, NULL)
							: mem_format("local/%s", name);
	struct found_job job;
	struct err err = {0};

	lookup_take_names(lookup, LOOKUP_WHOLE);
	int rc = lookup_job(lookup, argument, &job, &err);

	if (rc == 0)
		rc = job.client->functions->remove(job.client, job.name, &err);
	return rc == 0 || rc == ERR_NOT_FOUND ? EXIT_DONE : output_fail(&err);
}

/* The names of one value, "worker-0,ps-1". */
static int add_names(struct console_options *console_options, size_t *capacity, const char *value,
		     struct err *err)
{
	char *names CLEANUP(mem_free_text) = mem_copy_text(value);
	char *rest = names;

	for (char *name; (name = strsep(&rest, ","));) {
		size_t count = console_options->style.n_only;
		struct log_name replica;

		if (replica_name_take_log_name(name, &replica, err) < 0)
			return err_prefix(err, "--only");
		mem_grow(&console_options->only, capacity, count, sizeof(replica));
		console_options->only[count] = replica;
		console_options->style.n_only++;
	}
	return 0;
}

int console_options_read(const struct options *options, const struct job *job,
			 struct console_options *console_options, struct err *err)
{
	size_t capacity = 0, count;
	const char *const *values = option_list(options, "only", &count);
	int rc = 0;

	*console_options = (struct console_options){
		.style = {.color = option_text(options, "color"),
			  .is_quiet = option_flag(options, "quiet"),
			  .hides_names = !option_flag(options, "prefix"),
			  .shows_times = option_flag(options, "timestamps"),
			  .is_local = times_are_local(options)}};
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_names(console_options, &capacity, values[i], err);
	for (size_t i = 0; job && i < console_options->style.n_only && rc == 0; i++) {
		const struct log_name *only = &console_options->only[i];
		const struct role *role = job_role(job, only->role);

		if (!role || role->replicas == 0)
			rc = err_set(err, ERR_INVALID, "--only: job '%s' has no role '%s'",
				     job->name, only->role);
		else if (only->index >= role->replicas)
			rc = err_set(err, ERR_INVALID,
				     "--only: job '%s' has no %s-%d (the last one is %s-%d)",
				     job->name, only->role, only->index, only->role,
				     role->replicas - 1);
	}
	console_options->style.only = console_options->only;
	return rc;
}

int console_options_prepare_copies(const struct options *options, const struct job *job,
				   char **ret_pattern, struct err *err)
{
	const char *path = option_text(options, "output-dir");
	char *pattern CLEANUP(mem_free_text) = NULL;

	if (!path)
		return 0;
	int rc = output_path_read(path, &pattern, err);

	if (rc == 0)
		rc = output_copies_check(pattern, job, err);
	if (rc < 0)
		return err_prefix(err, "--output-dir");
	*ret_pattern = TAKE(pattern);
	return 0;
}

void console_options_done(struct console_options *console_options)
{
	free(console_options->only);
}

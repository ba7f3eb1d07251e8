/* muster exec: runs a command next to a replica of a job. */
#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/replica_name.h"
#include "command/options.h"
#include "command/output.h"
#include "io/child.h"
#include "io/private_network.h"
#include "io/process.h"
#include "jobs/processes.h"
#include "local/start.h"
#include "spec/job.h"
#include "status/status.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A program next to a replica that runs on this machine: with the replica's environment, in its
 * directory and in its network. */

/* With these marks, muster would count the process as the job's, and kill it with the job's
 * remaining processes. */
static bool is_mark(const char *entry)
{
	return text_starts_with(entry, ENVIRONMENT_JOB_MARK "=") ||
	       text_starts_with(entry, ENVIRONMENT_ATTEMPT_MARK "=");
}

/* The entries of a text, then NULL. Caller frees the list. */
static char **list_entries(struct text *text)
{
	size_t count = 0, capacity = 0;
	char **entries = NULL;

	for (size_t at = 0; at < text->len; at += strlen(text->bytes + at) + 1) {
		mem_grow(&entries, &capacity, count + 1, sizeof(*entries));
		if (!is_mark(text->bytes + at))
			entries[count++] = text->bytes + at;
	}
	mem_grow(&entries, &capacity, count, sizeof(*entries));
	entries[count] = NULL;
	return entries;
}

static int enter_folder(const struct replica_status *replica, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = mem_format("/proc/%d/cwd", (int) replica->pid);

	if (chdir(folder) < 0)
		return err_set_errno(err, errno, "cannot change to the working directory of %s-%d",
				     replica->role, replica->index);
	return 0;
}

/* The pid may belong to another process by now; a mark belongs to one attempt. */
static bool is_running(const char *job_uid, const struct replica_status *replica)
{
	char *mark CLEANUP(mem_free_text) =
		local_start_mark(job_uid, replica->role, replica->index, replica->attempt);

	return replica->pid > 0 && process_has_mark((pid_t) replica->pid, mark);
}

/* The program is searched in PATH, which is the replica's. */
static int replace_process_image(char *const *environment, const char *const *command,
				 struct err *err)
{
	const struct child_start start = {
		.program = command[0],
		.arguments = (char *const *) command,
		.environment = environment,
	};

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	return child_exec(&start, err);
}

/* Returns only when it fails. ERR_CONFLICT: the replica is not running; ERR_REFUSED,
 * ERR_NOT_FOUND. */
static int exec_here(const char *job_uid, const struct replica_status *replica,
		     bool has_private_network, const char *const *command, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (!is_running(job_uid, replica))
		return err_set(
			err, ERR_CONFLICT,
			"%s-%d is not running (%s), so it has no environment to run the command in",
			replica->role, replica->index, replica_state_words[replica->state]);
	int rc = process_add_environment((pid_t) replica->pid, &text, err);

	if (rc == 0)
		rc = enter_folder(replica, err);
	if (rc == 0 && has_private_network)
		rc = private_network_join((pid_t) replica->pid, err);
	if (rc < 0)
		return rc;
	char **environment CLEANUP(mem_free_any) = list_entries(&text);

	return replace_process_image(environment, command, err);
}

/* The selected replica; zero it to begin. */
struct target {
	struct copy_place place; /* without a path */
	struct json *tfjob;
	struct job *job;
};

static void target_done(struct target *target)
{
	copy_place_done(&target->place);
	json_free(target->tfjob);
	job_free(target->job);
}

/* JOB [ROLE-INDEX] -- COMMAND */
static int read_arguments(const struct options *options, struct target *target,
			  const char *const **ret_command, struct err *err)
{
	size_t count, before = options_n_before_separator(options);
	const char *const *arguments = options_arguments(options, &count);
	struct copy_place *place = &target->place;

	if (before > 2 || before == count)
		return err_set(
			err, ERR_INVALID,
			"missing command; write it after --: muster exec JOB worker-0 -- COMMAND");
	*ret_command = arguments + before;
	return before == 2 ? replica_name_take(arguments[1], &place->role, &place->index, err) : 0;
}

static int choose_replica(struct target *target, struct err *err)
{
	struct copy_place *place = &target->place;

	if (!place->role)
		place->role = mem_copy_text(job_default_role(target->job)->name);
	const struct role *role = job_role(target->job, place->role);

	if (!role || place->index >= role->replicas)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no %s-%d", place->job, place->role,
			       place->index);
	return 0;
}

/* The lookup is closed before the program is started. */
static int find_target(const struct options *options, struct target *target, struct err *err)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job found = {0};
	size_t count;
	const char *const *arguments = options_arguments(options, &count);
	const char *name = options_n_before_separator(options) ? arguments[0] : NULL;
	int rc = lookup_job(lookup, name, &found, err);

	if (rc == 0)
		rc = found.client->functions->get(found.client, found.name, &target->tfjob, err);
	if (rc == 0)
		rc = client_read_job(target->tfjob, &target->job, err);
	if (rc < 0)
		return rc;
	target->place.namespace_name = mem_copy_text(lookup_namespace(&found));
	target->place.job = mem_copy_text(found.name);
	return choose_replica(target, err);
}

/* On this machine. */

/* NULL and an error if there is none. */
static const struct replica_status *find_status(const struct target *target, struct arena *arena,
						struct err *err)
{
	struct status status;

	if (status_read(json_get(target->tfjob, "status"), arena, &status, err) < 0)
		return NULL;
	for (size_t i = 0; i < status.n_replicas; i++)
		if (text_equals(status.replicas[i].role, target->place.role) &&
		    status.replicas[i].index == target->place.index)
			return &status.replicas[i];
	err_set(err, ERR_CONFLICT, "%s-%d has not started yet", target->place.role,
		target->place.index);
	return NULL;
}

static void redirect_stdin_to_null(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

static int run_here(const struct options *options, const struct target *target,
		    const char *const *command)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct err err = {0};
	const struct replica_status *replica = find_status(target, arena, &err);

	if (!replica) {
		output_print_message("%s", err.text);
		return EXIT_INTERNAL;
	}
	if (option_is_given(options, "stdin") && !option_flag(options, "stdin"))
		redirect_stdin_to_null();
	assert(target->job);
	const struct json *uid = json_get_path(target->tfjob, "metadata", "uid", NULL);
	int rc = exec_here(json_as_string(uid, ""), replica, target->job->has_private_network,
			   command, &err);

	output_print_message("%s", err.text);
	if (rc == ERR_CONFLICT)
		return EXIT_INTERNAL;
	return rc == ERR_NOT_FOUND ? EXIT_NO_PROGRAM : EXIT_CANNOT_RUN;
}

/* In a Pod. */

/* The command gets a terminal if stdin and stdout are terminals. If only the output goes elsewhere,
 * as to `| less`, the terminal's keys are not read: less needs them. */
static int run_in_pod(const struct options *options, const struct target *target,
		      const char *const *command)
{
	bool can_be_terminal = isatty(STDIN_FILENO);
	bool is_terminal = option_is_given(options, "tty")
				   ? option_flag(options, "tty")
				   : can_be_terminal && isatty(STDOUT_FILENO);
	struct exec_call call = {
		.options = options,
		.place = &target->place,
		.container = option_text(options, "container"),
		.command = command,
		.is_terminal = is_terminal && can_be_terminal,
		.has_input = option_is_given(options, "stdin")
				     ? option_flag(options, "stdin")
				     : !can_be_terminal || isatty(STDOUT_FILENO),
	};

	if (is_terminal && !can_be_terminal)
		output_print_message("--tty: standard input is not a terminal");
	return cluster_support->exec(&call);
}

static int exec_run(const struct options *options)
{
	struct target target CLEANUP(target_done) = {0};
	const char *const *command = NULL;
	struct err err = {0};

	if (read_arguments(options, &target, &command, &err) < 0)
		return output_fail(&err);
	if (find_target(options, &target, &err) < 0) {
		output_print_message("%s", err.text);
		return EXIT_INTERNAL;
	}
	return target.place.namespace_name ? run_in_pod(options, &target, command)
					   : run_here(options, &target, command);
}

static const struct option_row rows_of_exec[] = {
	FLAG("stdin",
	     "pass standard input to the command (default, unless stdin is a terminal and stdout "
	     "is not)",
	     .letter = 'i'),
	FLAG("tty", "in a Pod: allocate a terminal (default if stdin and stdout are a terminal)",
	     .letter = 't'),
	CONTAINER_ROW,
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_exec = {
	.name = "exec",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB [ROLE-INDEX]] -- COMMAND [ARGS...]",
	.one_line = "run a command in a replica's environment and working directory",
	.examples = "  muster exec digits-x7k2p -- nvidia-smi\n"
		    "  muster exec digits-x7k2p worker-1 -- sh\n"
		    "  muster exec digits-x7k2p worker-1 -- sh -c 'echo $TF_CONFIG'\n",
	.options = rows_of_exec,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = exec_run,
};

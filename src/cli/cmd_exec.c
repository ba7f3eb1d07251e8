/* muster exec: runs a command next to a replica of a job. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/replica_name.h"
#include "io/child.h"
#include "io/file.h"
#include "io/private_network.h"
#include "io/process.h"
#include "jobs/processes.h"
#include "local/start.h"
#include "spec/job.h"
#include "status/status.h"

#include <assert.h>
#include <signal.h>

/* A program next to a replica that runs on this machine: with the replica's environment, in its
 * directory and in its network. */

/* The entries of a text, then NULL, without the marks: with these, muster would count the process
 * as the job's, and kill it with the job's remaining processes. Caller frees the list. */
static char **list_entries(struct text *text)
{
	size_t count = 0, capacity = 0;
	char **entries = NULL;

	for (size_t at = 0; at < text->len; at += strlen(text->bytes + at) + 1) {
		mem_grow(&entries, &capacity, count + 1, sizeof(*entries));
		if (!text_starts_with(text->bytes + at, ENVIRONMENT_JOB_MARK "=") &&
		    !text_starts_with(text->bytes + at, ENVIRONMENT_ATTEMPT_MARK "="))
			entries[count++] = text->bytes + at;
	}
	mem_grow(&entries, &capacity, count, sizeof(*entries));
	entries[count] = NULL;
	return entries;
}

/* Returns only an error. ERR_CONFLICT: the replica is not running; ERR_REFUSED, ERR_NOT_FOUND. */
static int exec_here(const char *job_uid, const struct replica_status *replica,
		     bool has_private_network, const char *const *command, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	/* The pid may belong to another process by now; a mark belongs to one attempt. */
	char *mark CLEANUP(mem_free_text) =
		local_start_mark(job_uid, replica->role, replica->index, replica->attempt);
	char *folder CLEANUP(mem_free_text) = mem_format("/proc/%d/cwd", (int) replica->pid);

	if (replica->pid <= 0 || !process_has_mark((pid_t) replica->pid, mark))
		return err_set(
			err, ERR_CONFLICT,
			"%s-%d is not running (%s), so it has no environment to run the command in",
			replica->role, replica->index, replica_state_words[replica->state]);
	int rc = process_add_environment((pid_t) replica->pid, &text, err);

	if (rc == 0 && chdir(folder) < 0)
		rc = err_set_errno(err, errno, "cannot change to the working directory of %s-%d",
				   replica->role, replica->index);
	if (rc == 0 && has_private_network)
		rc = private_network_join((pid_t) replica->pid, err);
	if (rc < 0)
		return rc;
	char **environment CLEANUP(mem_free_any) = list_entries(&text);
	/* The program is searched in PATH, which is the replica's. */
	const struct child_start start = {
		.program = command[0],
		.arguments = (char *const *) command,
		.environment = environment,
	};

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	return child_exec(&start, err);
}

/* The selected replica; zero it to begin. */
struct target {
	struct log_name replica; /* as given; an empty role: none was */
	struct arena *arena; /* of the names in the place */
	struct copy_place place; /* without a path */
	struct job_state state;
};

static void target_done(struct target *target)
{
	arena_free(target->arena);
	job_state_done(&target->state);
}

/* The lookup is closed before the program is started. */
static int find_target(const struct options *options, struct target *target, struct err *err)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job found = {0};
	const char *name =
		options_n_before_separator(options) ? options_arguments(options)[0] : NULL;

	if (lookup_job(lookup, name, &found, err) ||
	    job_state_read_job(&found, &target->state, err))
		return err->code;
	const struct role *role = job_choose_replica(target->state.job, &target->replica, err);

	if (!role)
		return ERR_NOT_FOUND;
	target->arena = arena_new();
	target->place = (struct copy_place){
		.namespace_name = arena_copy_text(target->arena, found.namespace_name),
		.job = arena_copy_text(target->arena, found.name),
		.role = role->name,
		.index = target->replica.index,
	};
	return 0;
}

/* On this machine. */

static int run_here(const struct options *options, const struct target *target,
		    const char *const *command)
{
	const struct copy_place *place = &target->place;
	const struct job_state *state = &target->state;
	const struct replica_status *replica =
		status_replica(&state->status, place->role, place->index);
	const struct json *uid = json_get_path(state->object, "metadata", "uid", NULL);
	struct err err = {0};

	if (!replica)
		return output_fail_with(EXIT_INTERNAL, "%s-%d has not started yet", place->role,
					place->index);
	if (option_is_given(options, "stdin") && !option_flag(options, "stdin")) {
		int fd CLEANUP(file_close) = open("/dev/null", O_RDONLY | O_CLOEXEC);

		dup2(fd, STDIN_FILENO);
	}
	assert(state->job);
	int rc = exec_here(json_as_string(uid, ""), replica, state->job->has_private_network,
			   command, &err);

	output_print_message("%s", err.text);
	if (rc == ERR_CONFLICT)
		return EXIT_INTERNAL;
	return rc == ERR_NOT_FOUND ? EXIT_NO_PROGRAM : EXIT_CANNOT_RUN;
}

static int exec_run(const struct options *options)
{
	struct target target CLEANUP(target_done) = {0};
	/* JOB [ROLE-INDEX] -- COMMAND */
	size_t before = options_n_before_separator(options);
	const char *const *arguments = options_arguments(options);
	const char *const *command = arguments + before;
	struct err err = {0};

	if (before > 2 || !*command)
		return output_fail_with(
			EXIT_USAGE,
			"missing command; write it after --: muster exec JOB worker-0 -- COMMAND");
	if (before == 2 && replica_name_take_log_name(arguments[1], &target.replica, &err) < 0)
		return output_fail(&err);
	if (find_target(options, &target, &err) < 0)
		return output_fail_with(EXIT_INTERNAL, "%s", err.text);
	return target.place.namespace_name ? cluster_support->exec(options, &target.place, command)
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

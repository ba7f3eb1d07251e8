/* muster: the table of commands, and the choice of the command to run. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "io/file.h"
#include "io/own_process.h"
#include "io/process.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/xattr.h>

/* In the order of the help text, group by group. */
static const struct command *const all_commands[] = {
	/* Run */
	&command_run,
	&command_launch,
	&command_orchestrator,
	&command_submit,
	&command_operator,
	&command_serve,
	&command_check,
	/* Inspect */
	&command_ps,
	&command_status,
	&command_logs,
	&command_attach,
	&command_stacks,
	&command_explain,
	&command_cp,
	&command_fetch,
	&command_tensorboard,
	&command_port_forward,
	&command_exec,
	&command_wait,
	/* Change */
	&command_stop,
	&command_delete,
	&command_suspend,
	&command_resume,
	&command_scale,
	&command_drain,
	/* TensorFlow */
	&command_server,
	&command_probe,
	&command_pod_server,
	/* Help and setup */
	&command_render,
	&command_doctor,
	&command_completion,
	&command_compat,
	&command_help,
	&command_version,
	NULL,
};

static const struct command_table table = {all_commands, compat_commands};

/* What new users type first: nothing, --help, -h, --version, -V. */
static const char *command_name_of(const char *word)
{
	if (!word || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return "help";
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return "version";
	return word;
}

/* The command of a program that muster replaces, by the name of a link; NULL: muster's own name, or
 * a question that muster answers itself. */
static const struct command *command_of_link(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	bool is_torchrun = argc && !strcmp(slash ? slash + 1 : argv[0], "torchrun");
	bool asks_version = argc == 2 && !strcmp(argv[1], "--version");

	if (is_torchrun)
		return asks_version ? NULL : &command_launch;
	return argc ? compat_find(&table, argv[0]) : NULL;
}

/* A caller who sets the environment controls which libraries and programs muster uses: it must not
 * gain permissions by that. AT_SECURE alone is also set when a security module changes the
 * process's label at exec, as in containers; that is harmless. */
static bool has_elevated_privileges(void)
{
	return getauxval(AT_SECURE) &&
	       (getuid() != geteuid() || getgid() != getegid() ||
		getxattr("/proc/self/exe", "security.capability", NULL, 0) >= 0);
}

int main(int argc, char **argv)
{
	/* By the name of the program, a link for an old program, else by its first argument. */
	const struct command *old = command_of_link(argc, argv);
	int n_used = old || argc < 2 ? argc > 0 : 2; /* words that name the command */
	const struct command *command =
		old ? old : command_find(&table, command_name_of(argc > 1 ? argv[1] : NULL));
	struct text text CLEANUP(text_done) = {0};

	file_keep_standard_numbers();
	if (has_elevated_privileges())
		return output_fail_with(
			EXIT_INTERNAL,
			"muster must not be installed setuid, setgid or with file capabilities, "
			"because its caller chooses the libraries and programs that it runs");
	/* This program holds keys and tokens: no core dump of it is written, and no process of the
	 * same user can read its memory. Its child processes are not affected (execve(2)). */
	if (cluster_support)
		process_hide_memory();
	/* A closed pipe, and a file that may not grow (ulimit -f), are errors of write, which each
	 * writer handles itself. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (argc)
		own_virtual_env_activate(argv[0]);
	if (!command) {
		help_add_unknown_command(&text, &table, argv[1]);
		output_print_errors(&text);
		return EXIT_USAGE;
	}
	return output_finish(command_call(&table, command, argc - n_used, argv + n_used));
}

/* muster: finds the command, reads its options, runs it. */
#include "base/names.h"
#include "cli/command.h"
#include "cli/compat.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output.h"
#include "io/file.h"
#include "io/log.h"

#include <signal.h>
#include <string.h>

/* In the order in which help shows them, group by group. */
const struct command *const all_commands[] = {
	&command_run,         &command_check,
	&command_ps,          &command_status,
	&command_logs,        &command_attach,
	&command_cp,          &command_fetch,
	&command_tensorboard, &command_port_forward,
	&command_exec,        &command_wait,
	&command_stop,        &command_delete,
	&command_suspend,     &command_resume,
	&command_scale,       &command_server,
	&command_probe,       &command_render,
	&command_doctor,      &command_completion,
	&command_compat,      &command_help,
	&command_version,     NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; all_commands[i]; i++)
		if (!strcmp(all_commands[i]->name, name))
			return all_commands[i];
	return NULL;
}

/* What people write first: nothing, --help, -h, --version, -V. */
static const char *command_name_of(const char *word)
{
	if (!word || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return "help";
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return "version";
	return word;
}

static int complain_of_use(const struct command *command, const struct text *faults)
{
	struct text text CLEANUP(text_done) = {0};
	const char *line = text_of(faults);

	for (size_t len; (len = strcspn(line, "\n")); line += len + 1)
		text_addf(&text, "muster %s: %.*s\n", command->name, (int) len, line);
	text_addf(&text, "'muster %s --help' shows how it is used.\n", command->name);
	output_complain(&text);
	return EXIT_WRONG_USE;
}

/* The word is one of them: options were checked. */
static enum log_level level_of(const struct options *options)
{
	if (option_flag(options, "debug"))
		return LOG_DEBUG;
	return (enum log_level) name_find_word(log_level_words, LOG_LEVEL_COUNT,
					       option_text(options, "log"));
}

int command_call(const struct command *command, int argc, char **argv)
{
	struct options *options CLEANUP(options_cleanup) = NULL;
	struct text faults CLEANUP(text_done) = {0};
	struct text help CLEANUP(text_done) = {0};

	if (options_parse(command, argc, argv, &options, &faults))
		return complain_of_use(command, &faults);
	log_set_level(level_of(options));
	if (!option_flag(options, "help"))
		return command->run(options);
	help_add_command(&help, command);
	output_add(&help);
	return EXIT_DONE;
}

static int complain_of_command(const char *name)
{
	struct text text CLEANUP(text_done) = {0};

	help_add_unknown_command(&text, name);
	output_complain(&text);
	return EXIT_WRONG_USE;
}

/* The command of a call, and how many of its words name it: by the name that the program was called
 * by, a link of an old program, else by its first argument. */
static const struct command *choose_command(int argc, char **argv, int *ret_n_used)
{
	const struct command *old = argc ? compat_find(argv[0]) : NULL;

	*ret_n_used = old || argc < 2 ? argc > 0 : 2;
	return old ? old : command_find(command_name_of(argc > 1 ? argv[1] : NULL));
}

int main(int argc, char **argv)
{
	int n_used;
	const struct command *command = choose_command(argc, argv, &n_used);

	file_keep_standard_numbers();
	/* A reader that is gone, and a file that may not grow (ulimit -f), are errors of write,
	 * which each writer answers for itself. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!command)
		return complain_of_command(argv[1]);
	return output_finish(command_call(command, argc - n_used, argv + n_used));
}

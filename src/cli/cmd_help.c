/* muster help [COMMAND]: the list of commands, or the usage of one. */
#include "cli/commands.h"

static int help_run(const struct options *options)
{
	const struct command_table *table = options_table(options);
	struct text text CLEANUP(text_done) = {0};
	const char *name = options_arguments(options)[0];
	const struct command *command = name ? command_find(table, name) : NULL;

	if (name && !command) {
		help_add_unknown_command(&text, table, name);
		output_print_errors(&text);
		return EXIT_USAGE;
	}
	if (command)
		help_add_command(&text, command);
	else
		help_add_overview(&text, table);
	output_add(&text);
	return EXIT_DONE;
}

const struct command command_help = {
	.name = "help",
	.group = "Help and setup",
	.arguments = "[COMMAND]",
	.one_line = "list the commands, or show the help of one",
	.examples = "  muster help\n"
		    "  muster help run\n",
	.most_arguments = 1,
	.run = help_run,
};

#include "base/names.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "io/log.h"

const struct command *command_find(const struct command_table *table, const char *name)
{
	for (size_t i = 0; table->commands[i]; i++)
		if (!strcmp(table->commands[i]->name, name))
			return table->commands[i];
	return NULL;
}

static int complain_of_use(const struct command *command, const struct text *faults)
{
	struct text text CLEANUP(text_done) = {0};
	const char *line = text_of(faults);

	for (size_t len; (len = strcspn(line, "\n")); line += len + 1)
		text_addf(&text, "muster %s: %.*s\n", command->name, (int) len, line);
	text_addf(&text, "Run 'muster %s --help' for usage.\n", command->name);
	output_print_errors(&text);
	return EXIT_USAGE;
}

int command_call(const struct command_table *table, const struct command *command, int argc,
		 char **argv)
{
	struct options *options CLEANUP(options_cleanup) = NULL;
	struct text faults CLEANUP(text_done) = {0};
	struct text help CLEANUP(text_done) = {0};

	if (options_parse(table, command, argc, argv, &options, &faults))
		return complain_of_use(command, &faults);
	log_set_level(option_flag(options, "debug")
			      ? LOG_DEBUG
			      : (enum log_level) name_find_word(log_level_words, LOG_LEVEL_COUNT,
								option_text(options, "log")));
	if (!option_flag(options, "help"))
		return command->run(options);
	help_add_command(&help, command);
	output_add(&help);
	return EXIT_DONE;
}

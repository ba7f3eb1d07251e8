/* The text of --help and of `muster help`, made from the commands' rows. */
#include "command/command.h"

#include "base/mem.h"
#include "base/names.h"
#include "command/options.h"
#include "command/other_tools.h"

/* Column of the explanations of options. */
#define EXPLANATION_COLUMN 30
/* Fits into half a screen, and on a page of a book. */
#define LAST_COLUMN 100

static const char *const option_group_words[] = {
	[OPTIONS_OF_COMMAND] = "Options",       [OPTIONS_OF_JOB] = "Job",
	[OPTIONS_OF_PROCESSES] = "Processes",   [OPTIONS_OF_ENDS] = "Restart and stop",
	[OPTIONS_OF_OUTPUT] = "Output",         [OPTIONS_OF_SETUP] = "Setup",
	[OPTIONS_OF_KUBERNETES] = "Kubernetes", [OPTIONS_OF_ALL] = "Global",
};

static void add_usage(struct text *text, const struct command *command)
{
	const char *form = command->arguments;

	for (const char *heading = "Usage:"; form; heading = "") {
		size_t len = strcspn(form, "\n");

		text_addf(text, "%-6s muster %s%s%.*s\n", heading, command->name, len ? " " : "",
			  (int) len, form);
		form = form[len] ? form + len + 1 : NULL;
	}
}

static void add_option_syntax(struct text *text, const struct option_row *row)
{
	const char *value = row->value_name ? row->value_name : row->words;

	if (row->letter)
		text_addf(text, "  -%c, --%s", row->letter, row->name);
	else
		text_addf(text, "      --%s", row->name);
	if (row->kind != OPTION_FLAG)
		text_addf(text, " %s", value);
	else if (value)
		text_addf(text, "[=%s]", value);
}

/* Adds words from column `column` on, in lines that begin at EXPLANATION_COLUMN. */
static void add_wrapped(struct text *text, const char *words, size_t column)
{
	const char *between = "";

	text_addf(text, "%*s", EXPLANATION_COLUMN - (int) column, "");
	column = EXPLANATION_COLUMN;
	for (const char *end; *words; words = end + strspn(end, " ")) {
		end = words + strcspn(words, " ");
		size_t width = text_count_characters(words, (size_t) (end - words));

		if (*between && column + strlen(between) + width > LAST_COLUMN) {
			text_addf(text, "\n%*s", EXPLANATION_COLUMN, "");
			column = EXPLANATION_COLUMN;
			between = "";
		}
		text_addf(text, "%s%.*s", between, (int) (end - words), words);
		column += strlen(between) + width;
		between = " ";
	}
	text_add_char(text, '\n');
}

static void add_option_help(struct text *text, const struct option_row *row)
{
	struct text words CLEANUP(text_done) = {0};
	char *variable CLEANUP(mem_free_text) = option_variable(row);
	size_t begin = text->len;

	add_option_syntax(text, row);
	if (text->len - begin > EXPLANATION_COLUMN - 2) {
		text_add_char(text, '\n');
		begin = text->len;
	}
	text_add(&words, row->one_line);
	if (row->otherwise)
		text_addf(&words, " (default %s)", row->otherwise);
	if (row->has_variable)
		text_addf(&words, " [%s]", variable);
	add_wrapped(text, text_of(&words), text->len - begin);
}

static void add_options(struct text *text, const struct command *command, enum option_group group)
{
	const struct option_row *row;
	bool is_first = true;

	for (size_t i = 0; (row = options_row(command, i)); i++) {
		if (row->group != group || !row->one_line)
			continue;
		if (is_first)
			text_addf(text, "\n%s:\n", option_group_words[group]);
		is_first = false;
		add_option_help(text, row);
	}
}

void help_add_command(struct text *text, const struct command *command)
{
	text_addf(text, "muster %s: %s\n\n", command->name, command->one_line);
	add_usage(text, command);
	for (enum option_group group = 0; group < N_OPTION_GROUPS; group++)
		add_options(text, command, group);
	if (command->examples)
		text_addf(text, "\nExamples:\n%s", command->examples);
}

void help_add_overview(struct text *text, const struct command_table *table)
{
	const char *group = "";
	int width = 0; /* of the longest name */

	for (size_t i = 0; table->commands[i]; i++)
		if ((int) strlen(table->commands[i]->name) > width)
			width = (int) strlen(table->commands[i]->name);
	text_add(text, "muster runs distributed training jobs on this machine or on "
		       "Kubernetes.\n\nUsage: muster COMMAND [OPTIONS] [ARGUMENTS]\n");
	for (size_t i = 0; table->commands[i]; i++) {
		const struct command *command = table->commands[i];

		if (!text_equals(group, command->group))
			text_addf(text, "\n%s:\n", command->group);
		group = command->group;
		text_addf(text, "  %-*s  %s\n", width, command->name, command->one_line);
	}
	text_add(text, "\nGet started: muster run -w 2 train.py\nHelp of a command: muster help "
		       "COMMAND\n");
}

/* The command line that may have been meant, without "muster"; NULL: unknown. Caller frees. */
static char *find_meant(const struct command_table *table, const char *name)
{
	const char *names[64];
	size_t count = 0;
	char *meant = other_tool_command_meant(name);
	const struct command *old = compat_find(table, name);

	if (meant || old)
		return meant ? meant : mem_copy_text(old->name);
	while (table->commands[count] && count < ARRAY_LEN(names)) {
		names[count] = table->commands[count]->name;
		count++;
	}
	return mem_copy_text(name_nearest(names, count, name));
}

void help_add_unknown_command(struct text *text, const struct command_table *table,
			      const char *name)
{
	char *meant CLEANUP(mem_free_text) = find_meant(table, name);

	text_addf(text, "muster: unknown command '%s'", name);
	if (meant)
		text_addf(text, "; did you mean 'muster %s'?", meant);
	else if (name[0] == '-')
		text_addf(text, "; put options after the command: muster run %s ...", name);
	text_add(text, "\nRun 'muster help' for a list of commands.\n");
}

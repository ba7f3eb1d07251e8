/* The text of --help and of `muster help`, made from the commands' rows. */
#include "cli/help.h"

#include "base/mem.h"
#include "base/names.h"
#include "cli/compat.h"
#include "cli/options.h"

#include <string.h>

/* Column at which the explanations of options begin. */
#define EXPLANATION_COLUMN 30

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

static void add_option(struct text *text, const struct option_row *row)
{
	size_t begin = text->len;

	add_option_syntax(text, row);
	if (text->len - begin > EXPLANATION_COLUMN - 2) {
		text_add_char(text, '\n');
		begin = text->len;
	}
	text_addf(text, "%*s%s", EXPLANATION_COLUMN - (int) (text->len - begin), "", row->one_line);
	if (row->otherwise)
		text_addf(text, " (default %s)", row->otherwise);
	if (row->has_variable) {
		char *variable CLEANUP(mem_free_text) = option_variable(row);

		text_addf(text, " [%s]", variable);
	}
	text_add_char(text, '\n');
}

void help_add_command(struct text *text, const struct command *command)
{
	const struct option_row *row;

	text_addf(text, "muster %s: %s\n\n", command->name, command->one_line);
	add_usage(text, command);
	text_add(text, "\nOptions:\n");
	for (size_t i = 0; (row = options_row(command, i)); i++)
		add_option(text, row);
	if (command->examples)
		text_addf(text, "\nExamples:\n%s", command->examples);
}

void help_add_overview(struct text *text)
{
	const char *group = "";

	text_add(text, "muster calls the processes of a distributed training job together.\n\n"
		       "Usage: muster COMMAND [OPTIONS] [ARGUMENTS]\n");
	for (size_t i = 0; all_commands[i]; i++) {
		const struct command *command = all_commands[i];

		if (!text_equals(group, command->group))
			text_addf(text, "\n%s:\n", command->group);
		group = command->group;
		text_addf(text, "  %-10s %s\n", command->name, command->one_line);
	}
	text_add(text, "\nBegin with: muster run -w 2 train.py\n"
		       "More about a command: muster help COMMAND\n");
}

void help_add_unknown_command(struct text *text, const char *name)
{
	const char *names[64];
	size_t count = 0;

	while (all_commands[count] && count < ARRAY_LEN(names)) {
		names[count] = all_commands[count]->name;
		count++;
	}
	const char *nearest = name_nearest(names, count, name);
	const struct command *old = compat_find(name);

	text_addf(text, "muster: '%s' is no command", name);
	if (old)
		text_addf(text, "; did you mean 'muster %s'?", old->name);
	else if (nearest)
		text_addf(text, "; did you mean 'muster %s'?", nearest);
	text_add(text, "\n'muster help' lists the commands.\n");
}

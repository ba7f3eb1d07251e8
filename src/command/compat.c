/* Finds the old program of a name. */
#include "base/text.h"
#include "command/command.h"

#define PREFIX "compat "

const char *compat_name(const struct command *command)
{
	return command->name + strlen(PREFIX);
}

static char without_dash(char byte)
{
	return byte == '-' ? '_' : byte;
}

static bool is_program_named(const struct command *command, const char *name, size_t len)
{
	const char *own = compat_name(command);
	size_t at = 0;

	while (at < len && without_dash(name[at]) == without_dash(own[at]))
		at++;
	return at == len && !own[at];
}

const struct command *compat_find(const struct command_table *table, const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	if (text_equals(name, "client.py")) /* a name too general for a program of ours */
		name = "elasticdl_client";
	bool has_ending = text_ends_with(name, ".sh") || text_ends_with(name, ".py");
	size_t len = strlen(name) - (has_ending ? 3 : 0);

	for (size_t i = 0; table->old_programs[i]; i++)
		if (is_program_named(table->old_programs[i], name, len))
			return table->old_programs[i];
	return NULL;
}

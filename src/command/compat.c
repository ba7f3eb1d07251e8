/* Finds the old program of a name. */
#include "command/compat.h"

#include "base/text.h"

#include <string.h>

#define PREFIX "compat "

const char *compat_name(const struct command *command)
{
	return command->name + strlen(PREFIX);
}

static size_t length_without_ending(const char *name)
{
	size_t len = strlen(name);

	return text_ends_with(name, ".sh") || text_ends_with(name, ".py") ? len - 3 : len;
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
	size_t len = length_without_ending(name);

	for (size_t i = 0; table->old_programs[i]; i++)
		if (is_program_named(table->old_programs[i], name, len))
			return table->old_programs[i];
	return NULL;
}

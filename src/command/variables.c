#include "command/variables.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "command/input.h"
#include "command/output.h"
#include "spec/limits.h"

#include <stdlib.h>
#include <string.h>

void variables_done(struct variables *variables)
{
	free(variables->list);
	arena_free(variables->arena);
}

static void append_variable(struct variables *variables, char *take_name, const char *value)
{
	mem_grow(&variables->list, &variables->capacity, variables->count,
		 sizeof(*variables->list));
	variables->list[variables->count++] = (struct env_entry){.name = take_name, .value = value};
}

/* The value after '=', else that of this process; NULL: there is none. Cuts off the value from
 * `name`. */
static const char *find_value(char *name)
{
	char *equals = strchr(name, '=');

	if (!equals)
		return getenv(name);
	*equals = '\0';
	return equals + 1;
}

/* Adds "NAME=VALUE", or "NAME" with the value of this process's environment, as docker and compose
 * do: a missing variable is reported on stderr and omitted. ERR_INVALID. */
static int variables_add(struct variables *variables, const char *assignment, struct err *err)
{
	if (!variables->arena)
		variables->arena = arena_new();
	char *name = arena_copy_text(variables->arena, assignment);
	const char *value = find_value(name);

	if (!name_is_environment_variable(name))
		return err_set(err, ERR_INVALID, "'%s' is not a valid variable name", name);
	if (!value)
		output_print_message(
			"--env %s: ignored, because the variable is not set in this shell; to "
			"set it: %s=VALUE",
			name, name);
	else if (!text_is_utf8(value, strlen(value)))
		return err_set(
			err, ERR_INVALID,
			"%s: its value is not valid UTF-8 (a job can only contain UTF-8 text)",
			name);
	else
		append_variable(variables, name, value);
	return 0;
}

static int add_env_file_line(void *to, char *line, struct err *err)
{
	return variables_add(to, line, err);
}

void variables_add_file(struct variables *variables, const char *path, struct text *faults)
{
	input_each_line("env-file", path, LIMIT_ENV_FILE, add_env_file_line, variables, faults);
}

void variables_read(const struct options *options, struct variables *variables, struct text *faults)
{
	struct err err;
	size_t count;
	const char *const *list = option_list(options, "env-file", &count);

	for (size_t i = 0; i < count; i++)
		variables_add_file(variables, list[i], faults);
	list = option_list(options, "env", &count);
	for (size_t i = 0; i < count; i++)
		if (variables_add(variables, list[i], &err))
			text_addf(faults, "--env: %s\n", err.text);
}

#include "command/variables.h"

#include "base/mem.h"
#include "base/names.h"
#include "command/input.h"
#include "command/output.h"
#include "spec/limits.h"

void variables_done(struct variables *variables)
{
	free(variables->list);
	arena_free(variables->arena);
}

/* Adds "NAME=VALUE"; of a variable also "NAME", with the value of this process's environment, as
 * docker and compose do: a missing one is reported on stderr and omitted. ERR_INVALID. */
static int variables_add(void *to, const char *assignment, struct err *err)
{
	struct variables *variables = to;

	if (!variables->arena)
		variables->arena = arena_new();
	char *name = arena_copy_text(variables->arena, assignment), *equals = strchr(name, '=');
	const char *value = equals ? equals + 1 : getenv(name);

	if (variables->are_parameters && (!equals || equals == name))
		return err_set(err, ERR_INVALID, "'%s': expected NAME=VALUE", assignment);
	if (equals)
		*equals = '\0';
	if (!variables->are_parameters && !name_is_environment_variable(name))
		return err_set(err, ERR_INVALID, "'%s' is not a valid variable name", name);
	if (!value) {
		output_print_message(
			"--env %s: ignored, because the variable is not set in this shell; to "
			"set it: %s=VALUE",
			name, name);
		return 0;
	}
	if (!text_is_utf8(name, strlen(name)) || !text_is_utf8(value, strlen(value)))
		return err_set(
			err, ERR_INVALID,
			"%s: its value is not valid UTF-8 (a job can only contain UTF-8 text)",
			name);
	mem_grow(&variables->list, &variables->capacity, variables->count,
		 sizeof(*variables->list));
	variables->list[variables->count++] = (struct env_entry){.name = name, .value = value};
	return 0;
}

void variables_add_file(struct variables *variables, const char *path, struct text *faults)
{
	if (variables->are_parameters)
		input_each_line("param-file", path, LIMIT_PARAMETER_FILE, variables_add, variables,
				faults);
	else
		input_each_line("env-file", path, LIMIT_ENV_FILE, variables_add, variables, faults);
}

void variables_read(const struct options *options, struct variables *variables, struct text *faults)
{
	bool are_parameters = variables->are_parameters;
	const char *name = are_parameters ? "param" : "env";
	struct err err;
	size_t count;
	const char *const *list =
		option_list(options, are_parameters ? "param-file" : "env-file", &count);

	for (size_t i = 0; i < count; i++)
		variables_add_file(variables, list[i], faults);
	list = option_list(options, name, &count);
	for (size_t i = 0; i < count; i++)
		if (variables_add(variables, list[i], &err))
			text_addf(faults, "--%s: %s\n", name, err.text);
}

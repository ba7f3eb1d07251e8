#include "cli/variables.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/input.h"
#include "core/limits.h"

#include <stdlib.h>
#include <string.h>

void variables_done(struct variables *variables)
{
	free(variables->list);
	arena_free(variables->arena);
}

static void append(struct variables *variables, char *take_name, const char *value)
{
	mem_grow(&variables->list, &variables->capacity, variables->count,
		 sizeof(*variables->list));
	variables->list[variables->count++] = (struct env_entry){.name = take_name, .value = value};
}

int variables_add(struct variables *variables, const char *assignment, struct err *err)
{
	if (!variables->arena)
		variables->arena = arena_new();
	char *name = arena_copy_text(variables->arena, assignment);
	char *equals = strchr(name, '=');

	if (!equals)
		return err_set(err, ERR_INVALID, "'%s' has no value: write NAME=VALUE", assignment);
	*equals = '\0';
	if (!name_is_environment_variable(name))
		return err_set(err, ERR_INVALID, "'%s' is no name for a variable", name);
	if (!text_is_utf8(equals + 1, strlen(equals + 1)))
		return err_set(err, ERR_INVALID,
			       "the value of %s is not UTF-8, which is all that a job can hold",
			       name);
	append(variables, name, equals + 1);
	return 0;
}

static int add_line(struct variables *variables, char *line, struct err *err)
{
	size_t len = strlen(line);

	if (len && line[len - 1] == '\r')
		line[len - 1] = '\0';
	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return 0;
	return variables_add(variables, line, err);
}

int variables_add_file(struct variables *variables, const char *path, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};

	if (input_read(path, LIMIT_ENV_FILE, &text, err))
		return err->code;
	if (text.len && memchr(text.bytes, '\0', text.len))
		return err_set(err, ERR_INVALID, "%s: a text file is expected, this has zero bytes",
			       path);
	char *rest = text.len ? text.bytes : NULL;

	for (int number = 1; rest; number++) {
		char *line = strsep(&rest, "\n");

		if (add_line(variables, line, err))
			return err_prefix(err, "%s:%d", path, number);
	}
	return 0;
}

int variables_read(const struct options *options, struct variables *variables, struct err *err)
{
	size_t count;
	const char *const *list = option_list(options, "env-file", &count);

	for (size_t i = 0; i < count; i++)
		if (variables_add_file(variables, list[i], err))
			return err_prefix(err, "--env-file");
	list = option_list(options, "env", &count);
	for (size_t i = 0; i < count; i++)
		if (variables_add(variables, list[i], err))
			return err_prefix(err, "--env");
	return 0;
}

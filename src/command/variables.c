#include "command/variables.h"

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

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Ends `text` at `end`, or before the blanks there. */
static void cut_blanks(const char *text, char *end)
{
	while (end > text && is_blank(end[-1]))
		end--;
	*end = '\0';
}

/* Takes the quotes of a value away, in place, or a comment behind one that has none. */
static int unquote(char *value, struct err *err)
{
	static const char escapes[] = "\\'\"abfnrtv", meant[] = "\\'\"\a\b\f\n\r\t\v";
	char quote = *value, *to = value, *at = value;

	if (quote != '"' && quote != '\'') {
		while (*at && !(*at == '#' && at > value && is_blank(at[-1])))
			at++;
		cut_blanks(value, at);
		return 0;
	}
	for (at++; *at && *at != quote; at++) {
		size_t n_escapes = quote == '"' ? strlen(escapes) : 2;
		const char *escape = *at == '\\' ? memchr(escapes, at[1], n_escapes) : NULL;

		*to++ = escape ? meant[escape - escapes] : *at;
		at += escape != NULL;
	}
	if (!*at)
		return err_set(err, ERR_INVALID, "the quote %c is not closed on its line", quote);
	at += 1 + strspn(at + 1, " \t");
	if (*at && *at != '#')
		return err_set(err, ERR_INVALID, "unexpected text after the closing quote %c",
			       quote);
	*to = '\0';
	return 0;
}

/* Adds a line of an --env-file. */
static int variables_add_line(void *to, const char *line, struct err *err)
{
	static const char export[] = "export ";
	const char *given = line + (text_starts_with(line, export) ? strlen(export) : 0);
	char *name CLEANUP(mem_free_text) = mem_copy_text(given + strspn(given, " \t"));
	char *value = strchr(name, '=');

	if (!value)
		return variables_add(to, name, err);
	cut_blanks(name, value++);
	value += strspn(value, " \t");
	if (*value == '#' && is_blank(value[-1]))
		*value = '\0';
	if (unquote(value, err) < 0)
		return err_prefix(err, "%s", name);
	char *assignment CLEANUP(mem_free_text) = mem_format("%s=%s", name, value);

	return variables_add(to, assignment, err);
}

void variables_add_file(struct variables *variables, const char *path, struct text *faults)
{
	if (variables->are_parameters)
		input_each_line("param-file", path, LIMIT_PARAMETER_FILE, variables_add, variables,
				faults);
	else
		input_each_line("env-file", path, LIMIT_ENV_FILE,
				variables->are_literal ? variables_add : variables_add_line,
				variables, faults);
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

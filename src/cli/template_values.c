#include "cli/template_values.h"

#include "command/input.h"
#include "spec/limits.h"

#include <stdlib.h>
#include <string.h>

void template_values_done(struct template_values *values)
{
	free(values->list);
	arena_free(values->arena);
}

static int add_template_value(void *to, const char *assignment, struct err *err)
{
	struct template_values *values = to;
	const char *equals = strchr(assignment, '=');

	if (!equals || equals == assignment)
		return err_set(err, ERR_INVALID, "'%s': expected NAME=VALUE", assignment);
	if (!text_is_utf8(assignment, strlen(assignment)))
		return err_set(
			err, ERR_INVALID,
			"%.*s: its value is not valid UTF-8 (a job can only contain UTF-8 text)",
			(int) (equals - assignment), assignment);
	if (!values->arena)
		values->arena = arena_new();
	mem_grow(&values->list, &values->capacity, values->count, sizeof(*values->list));
	values->list[values->count++] = (struct template_value){
		.name = arena_format(values->arena, "%.*s", (int) (equals - assignment),
				     assignment),
		.value = arena_copy_text(values->arena, equals + 1),
	};
	return 0;
}

void template_values_read(const struct options *options, struct template_values *values,
			  struct text *faults)
{
	struct err err;
	size_t count;
	const char *const *list = option_list(options, "param-file", &count);

	for (size_t i = 0; i < count; i++)
		input_each_line("param-file", list[i], LIMIT_PARAMETER_FILE, add_template_value,
				values, faults);
	list = option_list(options, "param", &count);
	for (size_t i = 0; i < count; i++)
		if (add_template_value(values, list[i], &err))
			text_addf(faults, "--param: %s\n", err.text);
}

void template_values_refuse(const struct options *options, const char *with, struct text *faults)
{
	static const char *const names[] = {"param", "param-file"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (option_is_given(options, names[i]))
			text_addf(faults, "--%s goes with %s\n", names[i], with);
}

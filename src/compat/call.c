#include "compat/call.h"

#include "base/mem.h"
#include "base/names.h"
#include "cli/kubernetes_program.h"
#include "command/options.h"
#include "command/output.h"

#include <assert.h>

void call_done(struct call *call)
{
	for (size_t i = 0; i < call->count; i++)
		free(call->words[i]);
	free(call->words);
}

void call_add(struct call *call, const char *word)
{
	mem_grow(&call->words, &call->capacity, call->count + 1, sizeof(*call->words));
	call->words[call->count++] = mem_copy_text(word);
	call->words[call->count] = NULL;
}

void call_add_value(struct call *call, const char *option, const char *value)
{
	if (!value)
		return;
	call_add(call, option);
	call_add(call, value);
}

void call_add_flag(struct call *call, const char *option, const struct options *old,
		   const char *flag)
{
	if (option_flag(old, flag))
		call_add(call, option);
}

void call_describe(const struct call *call, struct text *text)
{
	text_add(text, "muster ");
	shell_words_add(text, (const char *const *) call->words);
}

int call_run(struct call *call, const struct options *old)
{
	struct text text CLEANUP(text_done) = {0};

	call_add_value(call, "--state-dir", option_text(old, "state-dir"));
	call_describe(call, &text);
	if (option_flag(old, "dry-run")) {
		text_add_char(&text, '\n');
		output_add(&text);
		return EXIT_DONE;
	}
	output_print_message("equivalent command: %s", text_of(&text));
	const struct command_table *table = options_table(old);
	const struct command *command = command_find(table, call->words[0]);

	assert(command);
	return command_call(table, command, (int) call->count - 1, call->words + 1);
}

/* Under the name of a link, since a two-word command has no single name. */
int call_other_program(const struct options *old)
{
	char **call CLEANUP(mem_free_any) = options_call(old);
	struct err err = {0};

	call[1] = (char *) compat_name(options_command(old));
	int rc = kubernetes_program_exec(call + 1, &err);

	(void) rc; /* it is muster: otherwise this line is not reached */
	return output_fail(&err);
}

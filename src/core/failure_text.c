#include "core/failure_text.h"

static void add_last_lines(const struct failure *failure, struct text *text)
{
	if (!failure->n_last_lines)
		return;
	text_addf(text, "last lines of %s-%d:\n", failure->role, failure->index);
	for (size_t i = 0; i < failure->n_last_lines; i++)
		text_addf(text, "  | %s\n", failure->last_lines[i]);
}

static void add_consequences(const struct failure *failure, struct text *text)
{
	if (!failure->n_consequences)
		return;
	text_add(text, "only consequences:\n");
	for (size_t i = 0; i < failure->n_consequences; i++) {
		const struct consequence *consequence = &failure->consequences[i];

		text_addf(text, "  %s-%d %s\n", consequence->role, consequence->index,
			  consequence->what);
	}
}

void failure_describe(const struct failure *failure, struct text *text)
{
	text_addf(text, "%s\n", failure->message ? failure->message : failure->reason);
	add_last_lines(failure, text);
	add_consequences(failure, text);
}

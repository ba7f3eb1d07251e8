#include "kube/warnings.h"

#include "base/mem.h"
#include "kube/headers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOLD 100 /* limit, so that a server cannot fill our memory */

static bool was_warning_reported(const struct kube_warnings *warnings, const char *sentence)
{
	for (size_t i = 0; i < warnings->n_told; i++)
		if (!strcmp(warnings->told[i], sentence))
			return true;
	return warnings->n_told == MOST_TOLD;
}

static void report_server_warning(struct kube_warnings *warnings, const char *sentence)
{
	mem_grow(&warnings->told, &warnings->capacity, warnings->n_told, sizeof(*warnings->told));
	warnings->told[warnings->n_told++] = mem_copy_text(sentence);
	if (warnings->fn)
		warnings->fn(sentence, warnings->data);
}

void kube_warnings_take(struct kube_warnings *warnings, const struct http_answer *answer)
{
	const char *value;

	for (size_t i = 0; (value = http_answer_header(answer, "Warning", i)); i++) {
		char *sentence CLEANUP(mem_free_text) = kube_warning_text(value);

		if (sentence && *sentence && !was_warning_reported(warnings, sentence))
			report_server_warning(warnings, sentence);
	}
}

void kube_warnings_done(struct kube_warnings *warnings)
{
	for (size_t i = 0; i < warnings->n_told; i++)
		free(warnings->told[i]);
	free(warnings->told);
	*warnings = (struct kube_warnings){0};
}

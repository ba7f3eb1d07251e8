/* The errors in a document: a list of faults, and their text. */
#include "spec/job.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void faults_done(struct faults *faults)
{
	for (size_t i = 0; i < faults->count; i++) {
		free(faults->list[i].path);
		free(faults->list[i].sentence);
	}
	free(faults->list);
	*faults = (struct faults){0};
}

bool faults_are_full(const struct faults *faults)
{
	return faults->count >= LIMIT_FAULTS;
}

static char *format_sentence(const char *format, va_list values)
	__attribute__((format(printf, 1, 0)));

static char *format_sentence(const char *format, va_list values)
{
	char sentence[ERR_TEXT_SIZE];

	vsnprintf(sentence, sizeof(sentence), format, values);
	return mem_copy_text(sentence);
}

void fault_add(struct faults *faults, struct place place, const char *path, const char *format, ...)
{
	va_list values;

	if (faults_are_full(faults)) {
		faults->n_more++;
		return;
	}
	mem_grow(&faults->list, &faults->capacity, faults->count, sizeof(*faults->list));
	va_start(values, format);
	faults->list[faults->count++] = (struct fault){
		.path = mem_copy_text(path),
		.sentence = format_sentence(format, values),
		.place = place,
	};
	va_end(values);
}

static bool stands_before(const struct fault *a, const struct fault *b)
{
	return a->place.line < b->place.line ||
	       (a->place.line == b->place.line && a->place.column < b->place.column);
}

void faults_sort(struct faults *faults, size_t first)
{
	for (size_t i = first + 1; i < faults->count; i++) {
		struct fault fault = faults->list[i];
		size_t at = i;

		for (; at > first && stands_before(&fault, &faults->list[at - 1]); at--)
			faults->list[at] = faults->list[at - 1];
		faults->list[at] = fault;
	}
}

/* Length of a control character at the start: those of ASCII, and those of ISO 6429 (U+0080 to
 * U+009F), which many terminals obey as well; 0 if there is none. */
static size_t control_size(const unsigned char *at)
{
	if (at[0] < ' ' || at[0] == 0x7f)
		return 1;
	return at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f ? 2 : 0;
}

/* A user's key may contain any byte; a fault must stay on its line and move no cursor. */
static void add_printable(struct text *text, const char *string)
{
	while (*string) {
		size_t size = control_size((const unsigned char *) string);

		text_add_char(text, size > 0 ? '?' : *string);
		string += size > 0 ? size : 1;
	}
}

static void describe_fault(const struct fault *fault, const char *file, struct text *text)
{
	if (file) {
		add_printable(text, file);
		text_add_char(text, ':');
	}
	if (file && fault->place.line > 0)
		text_addf(text, "%d:%d:", fault->place.line, fault->place.column);
	if (file)
		text_add_char(text, ' ');
	if (fault->path[0] != '\0') {
		add_printable(text, fault->path);
		text_add(text, ": ");
	}
	add_printable(text, fault->sentence);
	text_add_char(text, '\n');
}

void faults_describe(const struct faults *faults, const char *file, struct text *text)
{
	for (size_t i = 0; i < faults->count; i++)
		describe_fault(&faults->list[i], file, text);
	if (faults->n_more > 0)
		text_addf(text, "and %zu more fault%s\n", faults->n_more,
			  faults->n_more == 1 ? "" : "s");
}

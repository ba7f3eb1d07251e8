/* Reads the output line by line, as a small state machine: outside of a traceback, or inside of one
 * until its exception comes, which is the first line that is not indented. */
#include "core/exception.h"

#include "base/own.h"
#include "base/text.h"
#include "core/line_text.h"

#include <stdbool.h>
#include <string.h>

#define TRACEBACK "Traceback (most recent call last)"
#define DIGITS "0123456789"

/* What kind of line was found: a weaker one does not replace a stronger one. */
enum strength {
	NONE,
	REPORT, /* a program's own sentence, which another may follow */
	EXCEPTION, /* of a traceback */
	FATAL_SIGNAL, /* faulthandler's, which says no more than the signal */
	FATAL, /* of C++, just before it aborts */
};

struct search {
	struct text line; /* the one that is read, plain */
	struct text found;
	enum strength strength; /* of what was found */
	bool is_in_traceback;
	bool is_inner; /* an exception of a group was found: those after it do not count */
};

static void search_done(struct search *search)
{
	text_done(&search->line);
	text_done(&search->found);
}

static void keep(struct search *search, const char *line, enum strength strength)
{
	if (strength < search->strength)
		return;
	search->strength = strength;
	text_clear(&search->found);
	text_add(&search->found, line);
}

/* "[rank1]: ", "[default1]:", and both; what is behind. */
static const char *skip_prefixes(const char *line)
{
	while (line[0] == '[') {
		size_t word = strspn(line + 1, "abcdefghijklmnopqrstuvwxyz_");
		size_t digits = strspn(line + 1 + word, DIGITS);
		const char *end = line + 1 + word + digits;

		if (word == 0 || digits == 0 || !text_starts_with(end, "]:"))
			break;
		line = end + 2 + (end[2] == ' ');
	}
	return line;
}

/* An exception group has a margin, "  | "; NULL for the lines that divide its parts. */
static const char *skip_margin(const char *line)
{
	const char *mark = line + strspn(line, " ");

	if (text_starts_with(mark, "+-"))
		return NULL;
	if (mark[0] != '|')
		return line;
	return mark + 1 + (mark[1] == ' ');
}

/* By blanks, or by a frame that is drawn around it: U+2500 to U+257F. */
static bool is_indented(const char *line)
{
	return line[0] == ' ' || line[0] == '\t' || text_starts_with(line, "\xe2\x94") ||
	       text_starts_with(line, "\xe2\x95");
}

/* A frame, by which a traceback is known whose head is not among the lines. Those of faulthandler,
 * "File "train.py", line 3 in fit", lead to no exception. */
static bool is_frame(const char *line)
{
	const char *frame = line + strspn(line, " ");
	const char *number = strstr(frame, "\", line ");

	if (frame == line || !text_starts_with(frame, "File \"") || !number)
		return false;
	number += strlen("\", line ");
	number += strspn(number, DIGITS);
	return !number[0] || number[0] == ',';
}

static bool begins_traceback(const char *line)
{
	return strstr(line, TRACEBACK) || is_frame(line);
}

static bool is_group(const char *line)
{
	return strstr(line, " sub-exception)") || strstr(line, " sub-exceptions)");
}

static void read_traceback(struct search *search, const char *line)
{
	const char *content = skip_margin(line);
	bool has_margin = content != line;

	if (!content || (has_margin && search->is_inner))
		return;
	if (begins_traceback(content)) {
		search->is_in_traceback = true;
		search->is_inner = false;
	} else if (search->is_in_traceback && content[0] && !is_indented(content)) {
		keep(search, content, EXCEPTION);
		search->is_in_traceback = has_margin && is_group(content);
		search->is_inner = has_margin && !search->is_in_traceback;
	}
}

/* "errors_impl.UnavailableError: …", whose traceback may lie beyond the lines. */
static bool names_exception(const char *line)
{
	static const char *const endings[] = {"Error", "Exception"};
	size_t len = strcspn(line, ": ");

	for (size_t i = 0; line[len] == ':' && i < ARRAY_LEN(endings); i++) {
		size_t ending_len = strlen(endings[i]);

		if (len >= ending_len &&
		    strncmp(line + len - ending_len, endings[i], ending_len) == 0)
			return true;
	}
	return false;
}

/* "train.py: error: …", as argparse and compilers write it. */
static bool is_usage_error(const char *line)
{
	size_t word = strcspn(line, " ");

	return word > 1 && line[word - 1] == ':' && text_starts_with(line + word, " error: ");
}

/* "F0000 00:00:1763740931.5 …] Check failed: …" of Abseil, and with a date before the F. */
static bool is_fatal_log(const char *line)
{
	size_t date = strspn(line, DIGITS "-:. ");

	return (line[0] == 'F' && strspn(line + 1, DIGITS) == 4 && line[5] == ' ') ||
	       (date > strlen("2026-11-27 18:34:21") && text_starts_with(line + date, "F "));
}

static enum strength strength_of(const char *line)
{
	if (is_fatal_log(line) || text_starts_with(line, "what():  "))
		return FATAL;
	if (text_starts_with(line, "Fatal Python error: "))
		return FATAL_SIGNAL;
	return names_exception(line) || is_usage_error(line) ? REPORT : NONE;
}

const char *exception_find(const char *const *lines, size_t n_lines, struct arena *arena)
{
	struct search search CLEANUP(search_done) = {0};

	for (size_t i = 0; i < n_lines; i++) {
		text_clear(&search.line);
		line_text_add_plain(&search.line, lines[i], strlen(lines[i]));
		const char *line = skip_prefixes(text_of(&search.line));
		const char *words = line + strspn(line, " ");

		read_traceback(&search, line);
		if (strength_of(words) != NONE)
			keep(&search, words, strength_of(words));
	}
	return search.found.len > 0 ? arena_copy_text(arena, text_of(&search.found)) : NULL;
}

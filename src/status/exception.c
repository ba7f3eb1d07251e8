/* Reads the output line by line as a small state machine: outside of a traceback, or inside one
 * until its exception comes, which is the first unindented line. */
#include "status/exception.h"

#include "base/line_text.h"

#include <ctype.h>

/* Compares character by character: 0 matches a digit, any other character itself. */
static bool begins_like(const char *line, const char *pattern)
{
	for (; *pattern; pattern++, line++)
		if (*pattern == '0' ? !isdigit((unsigned char) *line) : *line != *pattern)
			return false;
	return true;
}

/* "I0000 00:00:1795815815.181702   16722 port.cc:153] " */
static bool is_abseil_info(const char *line)
{
	const char *bracket = strchr(line, ']');

	return begins_like(line, "I0000 00:00:00") && bracket && bracket[1] == ' ';
}

bool log_noise_is(const char *line)
{
	static const char *const beginnings[] = {
		"WARNING: All log messages before absl::InitializeLog() is called",
		"To enable the following instructions:",
		/* "2026-11-27 21:36:55.181702: I tensorflow/core/platform/cpu_…" */
		"0000-00-00 00:00:00.000000: I ",
	};

	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (begins_like(line, beginnings[i]))
			return true;
	return is_abseil_info(line);
}

#define TRACEBACK "Traceback (most recent call last)"
#define DIGITS "0123456789"
#define WHAT "what():  " /* of C++ */
#define IN_USER_CODE "in user code:"
#define LAST_ERROR "Last error:" /* of NCCL, below the exception: the next line is the reason */
/* Output that comes sooner after an exception may be its continuation. */
#define GOING_ON MSEC_PER_SECOND
#define LOG_MESSAGE_TIME (MSEC_PER_SECOND / 10)

/* The kind of line found: a weaker one does not replace a stronger one. */
enum strength {
	NONE,
	REPORT, /* a program's own message, which another may follow */
	ABORTED, /* of faulthandler: PyTorch may abort while Python exits after an exception */
	LAUNCHER, /* of a program that started the one which failed */
	EXCEPTION, /* of a traceback */
	FATAL_SIGNAL, /* of faulthandler, which says no more than the signal */
	FATAL, /* of C++, just before it aborts */
};

struct search {
	bool ends_with_blame; /* the exception blames a peer */
	struct text line; /* the current line, plain */
	msec time; /* of that line */
	struct text found;
	enum strength strength; /* of the line found */
	msec found_at;
	bool is_left_behind; /* the program continued after it */
	msec logged_at; /* the last line of a library's log */
	bool is_in_user_code; /* of AutoGraph, whose last indented exception is the real one */
	bool is_continued; /* the next line was appended to it */
	bool is_in_traceback;
	bool is_inner; /* an exception of a group was found: later ones do not count */
};

static void search_done(struct search *search)
{
	text_done(&search->line);
	text_done(&search->found);
}

static void store_exception_line(struct search *search, const char *line, enum strength strength)
{
	if (strength < search->strength && !search->is_left_behind)
		return;
	search->strength = strength;
	search->found_at = search->time;
	search->is_left_behind = search->is_continued = false;
	text_clear(&search->found);
	text_add(&search->found, text_starts_with(line, WHAT) ? line + strlen(WHAT) : line);
}

/* Skips "[rank1]: ", "[default1]:", or both. */
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

/* Skips the margin of an exception group, "  | "; NULL for a separator line. */
static const char *skip_margin(const char *line)
{
	const char *mark = line + strspn(line, " ");

	if (text_starts_with(mark, "+-"))
		return NULL;
	return mark[0] == '|' ? mark + 1 + (mark[1] == ' ') : line;
}

/* By spaces, or by a frame drawn around it: U+2500 to U+257F. */
static bool is_indented(const char *line)
{
	return line[0] == ' ' || line[0] == '\t' || text_starts_with(line, "\xe2\x94") ||
	       text_starts_with(line, "\xe2\x95");
}

/* A stack frame, which identifies a traceback whose head is not among the lines. Frames of
 * faulthandler, "File "train.py", line 3 in fit", lead to no exception. */
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

/* torchrun's, and accelerate's or any other script's that runs a program. */
static bool is_of_launcher(const char *line)
{
	return strstr(line, "multiprocessing.errors.ChildFailedError") ||
	       text_starts_with(line, "subprocess.CalledProcessError: Command ");
}

static void read_traceback(struct search *search, const char *line)
{
	const char *content = skip_margin(line);
	bool has_margin = content != line;

	if (!content || (has_margin && search->is_inner))
		return;
	if (begins_traceback(content)) {
		search->is_in_traceback = true;
		search->is_inner = search->is_in_user_code = false;
	} else if (search->is_in_traceback && content[0] && !is_indented(content)) {
		store_exception_line(search, content,
				     is_of_launcher(content) ? LAUNCHER : EXCEPTION);
		search->is_in_traceback = has_margin && is_group(content);
		search->is_inner = has_margin && !search->is_in_traceback;
	}
}

/* "errors_impl.UnavailableError: …", whose traceback may not be among the lines. */
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

/* "train.py: error: …", as from argparse and compilers. */
static bool is_usage_error(const char *line)
{
	size_t word = strcspn(line, " ");

	return word > 1 && line[word - 1] == ':' && text_starts_with(line + word, " error: ");
}

/* "F0000 00:00:1763740931.5 …] Check failed: …" of Abseil, possibly with a date before the F. */
static bool is_fatal_log(const char *line)
{
	size_t date = strspn(line, DIGITS "-:. ");

	return (line[0] == 'F' && strspn(line + 1, DIGITS) == 4 && line[5] == ' ') ||
	       (date > strlen("2026-11-27 18:34:21") && text_starts_with(line + date, "F "));
}

/* "/usr/bin/python3: can't open file …" */
static bool is_python_error(const char *line)
{
	size_t word = strcspn(line, " ");
	const char *slash = word ? memrchr(line, '/', word) : NULL;
	const char *name = slash ? slash + 1 : line;

	return text_starts_with(name, "python") && word > 1 && line[word - 1] == ':' &&
	       strspn(name + strlen("python"), DIGITS ".") ==
		       (size_t) (line + word - 1 - name) - strlen("python");
}

static enum strength strength_of(const char *line)
{
	if (is_fatal_log(line) || text_starts_with(line, WHAT))
		return FATAL;
	if (text_starts_with(line, "Fatal Python error: "))
		return strstr(line, ": Aborted") ? ABORTED : FATAL_SIGNAL;
	return names_exception(line) || is_usage_error(line) || is_python_error(line) ? REPORT
										      : NONE;
}

static bool is_in_user_code(const struct search *search)
{
	return search->found.len > 0 && text_ends_with(text_of(&search->found), IN_USER_CODE);
}

/* A line that ends with a colon needs the next line. */
static void continue_found(struct search *search, const char *words)
{
	if (search->is_continued || search->found.len == 0 || !words[0] ||
	    !text_ends_with(text_of(&search->found), ":") || is_in_user_code(search) ||
	    begins_traceback(words) || strength_of(words) != NONE)
		return;
	text_addf(&search->found, " %s", words);
	search->is_continued = true;
}

/* A line of a library's log, "W1128 02:44:00.123456 …" and "[W1128 …". The log continues by itself,
 * in a process whose script has failed and awaits its peers. A message may have more lines. */
static bool is_log_line(struct search *search, const char *line)
{
	const char *level = line + (line[0] == '[');
	bool begins = level[0] && strchr("IWEF", level[0]) && strspn(level + 1, DIGITS) == 4;

	if (begins)
		search->logged_at = search->time;
	return begins || log_noise_is(line) || strstr(line, "Warning") ||
	       (search->logged_at != MSEC_UNSET &&
		search->time < search->logged_at + LOG_MESSAGE_TIME);
}

/* A script that continues has caught the exception that it printed; an abort cannot be caught. */
static void note_going_on(struct search *search, const char *line)
{
	bool is_late = search->found_at != MSEC_UNSET && search->time != MSEC_UNSET &&
		       search->time >= search->found_at + GOING_ON;

	if (is_late && search->strength <= EXCEPTION && !search->is_in_traceback && line[0] &&
	    !is_indented(line) && !is_log_line(search, line))
		search->is_left_behind = true;
}

bool exception_blames_peer(const char *exception)
{
	static const char *const words[] = {
		"timed out",
		"Timed out",
		"TIMED_OUT",
		"timeout",
		"Timeout",
		"DEADLINE_EXCEEDED",
		"UNAVAILABLE",
		"Connection closed by peer",
		"Connection reset by peer",
		"Connection refused",
		"Broken pipe",
		"remote process exited",
		"another task died",
		"heartbeat",
		"failed to connect",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(exception, words[i]))
			return true;
	return false;
}

/* Returns false if the remaining lines do not count. */
static bool read_printed_line(struct search *search, const char *bytes)
{
	text_clear(&search->line);
	line_text_add_plain(&search->line, bytes, strlen(bytes));
	const char *line = skip_prefixes(text_of(&search->line));
	const char *words = line + strspn(line, " \t");
	enum strength strength = strength_of(words);

	if (search->ends_with_blame && strength != NONE && exception_blames_peer(words))
		return false;
	if (strength == REPORT && words > line && search->is_in_user_code)
		strength = EXCEPTION;
	note_going_on(search, line);
	continue_found(search, words);
	read_traceback(search, line);
	if (search->found.len > 0 && text_equals(words, LAST_ERROR)) {
		text_add(&search->found, "; " LAST_ERROR);
		search->is_continued = false;
	}
	if (strength != NONE)
		store_exception_line(search, words, strength);
	search->is_in_user_code |= is_in_user_code(search);
	return true;
}

static const char *find_exception_line(struct search *search, const struct printed *printed,
				       struct arena *arena, msec *ret_time)
{
	search->found_at = search->logged_at = MSEC_UNSET;
	for (size_t i = 0; i < printed->count; i++) {
		search->time = printed->times ? printed->times[i] : MSEC_UNSET;
		if (!read_printed_line(search, printed->lines[i]))
			break;
	}
	if (ret_time)
		*ret_time = search->found_at;
	return search->found.len > 0 && !search->is_left_behind
		       ? arena_copy_text(arena, text_of(&search->found))
		       : NULL;
}

const char *exception_find(const struct printed *printed, struct arena *arena)
{
	struct search search CLEANUP(search_done) = {0};

	return find_exception_line(&search, printed, arena, NULL);
}

const char *exception_find_own(const struct printed *printed, struct arena *arena, msec *ret_time)
{
	struct search search CLEANUP(search_done) = {.ends_with_blame = true};

	return find_exception_line(&search, printed, arena, ret_time);
}

const char *exception_find_cause(const struct printed *printed, struct arena *arena)
{
	const char *last = exception_find(printed, arena);
	const char *own = last && exception_blames_peer(last)
				  ? exception_find_own(printed, arena, NULL)
				  : NULL;

	return own ? own : last;
}

const char *exception_find_last_words(const struct printed *printed, struct arena *arena)
{
	static const char *const words[] = {
		"abort",   "can't", "cannot",   "could not", "denied",      "does not",
		"empty",   "error", "expected", "fail",      "invalid",     "is not",
		"missing", "must ", "no such",  "not found", "only ",       "refuse",
		"require", "too ",  "unable",   "unknown",   "unsupported",
	};
	struct text line CLEANUP(text_done) = {0};
	const char *last = NULL;

	for (size_t i = printed->count; i > 0 && !last; i--) {
		text_clear(&line);
		line_text_add_plain(&line, printed->lines[i - 1], strlen(printed->lines[i - 1]));
		const char *said = skip_prefixes(text_of(&line));

		last = said[strspn(said, " \t")] && !log_noise_is(said) ? said : NULL;
	}
	for (size_t i = 0; last && i < ARRAY_LEN(words); i++)
		if (strcasestr(last, words[i]))
			return arena_copy_text(arena, last);
	return NULL;
}

#include "io/log.h"

#include "base/text.h"
#include "io/file.h"
#include "io/loop.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LONGEST 1024 /* a sentence that is longer is cut */

const char *const log_level_words[LOG_LEVEL_COUNT] = {
	[LOG_WARNING] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

static struct {
	enum log_level level;
	log_fn sink;
	void *data;
} state;

void log_set_level(enum log_level level)
{
	state.level = level;
}

bool log_is_on(enum log_level level)
{
	return level <= state.level;
}

void log_set_sink(log_fn sink, void *data)
{
	state.sink = sink;
	state.data = data;
}

/* In one write, so that lines of several processes never mix. */
static void write_line(enum log_level level, const char *sentence)
{
	struct text line CLEANUP(text_done) = {0};

	text_add_time(&line, loop_now());
	text_addf(&line, " muster[%d] %s: %s\n", (int) getpid(), log_level_words[level], sentence);
	file_write_all(STDERR_FILENO, line.bytes, line.len, NULL);
}

static void PRINTF_LIKE(2, 0) add(enum log_level level, const char *format, va_list arguments)
{
	char sentence[LONGEST];

	vsnprintf(sentence, sizeof(sentence), format, arguments);
	if (state.sink)
		state.sink(level, sentence, state.data);
	else
		write_line(level, sentence);
}

void log_info(const char *format, ...)
{
	va_list arguments;

	if (!log_is_on(LOG_INFO))
		return;
	va_start(arguments, format);
	add(LOG_INFO, format, arguments);
	va_end(arguments);
}

void log_debug(const char *format, ...)
{
	va_list arguments;

	if (!log_is_on(LOG_DEBUG))
		return;
	va_start(arguments, format);
	add(LOG_DEBUG, format, arguments);
	va_end(arguments);
}

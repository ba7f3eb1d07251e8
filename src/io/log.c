#include "io/log.h"

#include "base/line_text.h"
#include "io/file.h"
#include "io/loop.h"

#include <stdarg.h>
#include <stdio.h>

#define LONGEST 1024 /* longer sentences are cut */

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

void log_write(enum log_level level, const char *format, ...)
{
	char sentence[LONGEST];
	va_list arguments;

	if (!log_is_on(level))
		return;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	if (state.sink) {
		state.sink(level, sentence, state.data);
		return;
	}
	struct text line CLEANUP(text_done) = {0};

	text_add_line_time(&line, loop_now(), 0);
	text_addf(&line, " muster[%d] %s: ", (int) getpid(), log_level_words[level]);
	line_text_add_sentence(&line, sentence, strlen(sentence));
	text_add_char(&line, '\n');
	/* In one write, so that lines of several processes never mix. */
	file_write_all(STDERR_FILENO, line.bytes, line.len, NULL);
}

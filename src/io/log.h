/* Logs the actions of muster and their reasons, line by line, for users who need more than the
 * outcome: MUSTER_LOG=info logs decisions, MUSTER_LOG=debug also calls, with their times.
 *
 * Never logs a secret: only names, numbers, codes and sentences that are printed elsewhere; no
 * contents. This is the only global state of the process that changes. */
#pragma once

#include "base/own.h"

enum log_level {
	LOG_WARNING, /* as if there were no log: warnings are always printed */
	LOG_INFO,
	LOG_DEBUG,
	LOG_LEVEL_COUNT,
};
extern const char *const log_level_words[LOG_LEVEL_COUNT];

void log_set_level(enum log_level level);
bool log_is_on(enum log_level level);

/* Receives the lines; `sentence` has no line end. NULL: they go to stderr. */
typedef void (*log_fn)(enum log_level level, const char *sentence, void *data);
void log_set_sink(log_fn sink, void *data);

#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
void log_write(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

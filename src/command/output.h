/* Prints the output of commands: data on stdout, sentences on stderr, and the errors of both. The
 * text may be from any source: control characters except line ends and tabs are removed. */
#pragma once

#include "base/json.h"
#include "command/options.h"

/* Writes data to stdout (buffered by stdio until output_flush or the program exits). */
void output_add(const struct text *text);
/* The same for text of redraw_add, whose escape sequences are kept. */
void output_add_screen(const struct text *screen);
/* Writes `text` with `add` and flushes, if it differs from `last`; then `last` is this text. True
 * when stdout no longer accepts data. */
bool output_add_changed(const struct text *text, void (*add)(const struct text *text),
			struct text *last);
/* Writes an object in the format of -o: "yaml", or JSON for any other word. */
void output_add_object(const struct json *object, const char *format);
/* Writes objects of Kubernetes: YAML documents one after the other, or a JSON object of kind List.
 */
void output_add_objects(const struct json *list, const char *format);
/* Writes an event for programs: an object on its own line, immediately. */
void output_add_event(const struct json *event);
/* Writes buffered data. False when the reader has closed stdout or the disk is full. */
bool output_flush(void);
/* Writes lines to stderr. */
void output_print_errors(const struct text *text);
/* Prints a sentence of muster's own on stderr: "muster: …". */
void output_print_message(const char *format, ...) PRINTF_LIKE(1, 2);
/* The same as a callback; `data` is not used. */
void output_print_sentence(const char *sentence, void *data);
/* Prints such a sentence and returns the exit code. */
int output_fail_with(int exit_code, const char *format, ...) PRINTF_LIKE(2, 3);
/* One such sentence for each line. */
void output_print_messages(const struct text *lines);
/* Prints an error and returns its exit code: 2 usage or file error, 3 not reached, 4 rejected, else
 * 1. */
int output_fail(const struct err *err);
/* Call it last: returns `exit_code`, or 1 and a sentence when data for stdout was lost. A reader
 * that closed it early (`muster ps | head -1`) is no error. */
int output_finish(int exit_code);

/* Rows for the tables of commands. A user on a terminal gets local times, a program UTC. */
#define UTC_ROW(of_group)                                                                          \
	FLAG("utc", "print times in UTC (default on a terminal: local time)", .group = (of_group))

#define COLOR_ROW(of_group)                                                                        \
	WORDS("color", "auto|always|never", "auto",                                                \
	      "use colors (auto: on a terminal, unless NO_COLOR is set)", .group = (of_group),     \
	      .has_variable = true)

/* Whether stdout gets times of this machine's time zone. */
bool times_are_local(const struct options *options);

/* What commands print: data on stdout, sentences on stderr, and what is done when either fails.
 * What stands in it may be from anywhere: no control character but line ends and tabs passes. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "command/options.h"

#include <stdbool.h>

/* Writes data to stdout (kept by stdio until output_flush or the end of the program). */
void output_add(const struct text *text);
/* The same of what redraw_add made, whose escape sequences pass. */
void output_add_screen(const struct text *screen);
/* Adds by one of them, and at once, a text that is not the `last` one, and becomes it. True when
 * nothing more arrives. */
bool output_add_changed(const struct text *text, void (*add)(const struct text *text),
			struct text *last);
/* Writes an object as -o asks for: "yaml", or JSON for any other word. */
void output_add_object(const struct json *object, const char *format);
/* Writes objects of Kubernetes: YAML documents one after the other, or a JSON object of kind List.
 */
void output_add_objects(const struct json *list, const char *format);
/* Writes an event for programs: an object on a line of its own, at once. */
void output_add_event(const struct json *event);
/* Writes what is kept. False when the reader is gone or the disk is full: nothing more arrives. */
bool output_flush(void);
/* Writes lines to stderr. */
void output_print_errors(const struct text *text);
/* A sentence of muster's own on stderr: "muster: …". */
void output_print_message(const char *format, ...) PRINTF_LIKE(1, 2);
/* One such sentence for each line. */
void output_print_messages(const struct text *lines);
/* Tells an error and gives the exit code for it: 2 wrong use or file, 3 not reached, 4 refused,
 * else 1. */
int output_fail(const struct err *err);
/* At the end of the program: `exit_code`, or 1 and a sentence when data was lost on its way to
 * stdout. A reader that left early (`muster ps | head -1`) has what it wanted. */
int output_finish(int exit_code);

/* Rows for the tables of commands. A person at a terminal reads times of this machine's zone, a
 * program those of UTC. */
#define UTC_ROW(of_group)                                                                          \
	{                                                                                          \
		.name = "utc", .group = (of_group), .kind = OPTION_FLAG,                           \
		.one_line = "print times in UTC (default on a terminal: local time)"               \
	}

#define COLOR_ROW(of_group)                                                                        \
	{                                                                                          \
		.name = "color", .group = (of_group), .kind = OPTION_WORD,                         \
		.words = "auto|always|never", .otherwise = "auto", .has_variable = true,           \
		.one_line = "use colors (auto: on a terminal, unless NO_COLOR is set)"             \
	}

/* Whether stdout gets times of this machine's time zone. */
bool times_are_local(const struct options *options);

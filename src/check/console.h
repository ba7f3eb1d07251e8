/* What the user sees of a check while it runs and at its end.
 *
 * As text everything goes to stdout: a line for each completed step, and on a terminal a row with
 * the progress. With another format the object goes to stdout and the rest to stderr. */
#pragma once

#include "base/own.h"
#include "check/facts.h"
#include "io/loop.h"

#include <stdbool.h>

struct check_console_settings {
	struct loop *loop;
	const char *format; /* "text", "json", "junit" */
	bool is_verbose;
	const char *color; /* "auto", "always", "never" */
};

struct check_console;
struct check_console *check_console_new(const struct check_console_settings *settings) MUST_USE;
void check_console_free(struct check_console *console); /* NULL is fine */

/* Prints what is new. */
void check_console_show(struct check_console *console, const struct check *check);
/* The check has ended: prints the rest, and calls `on_drained` from the loop when all of it was
 * written, or no process reads it. */
void check_console_finish(struct check_console *console, const struct check *check,
			  loop_fn on_drained, void *data);

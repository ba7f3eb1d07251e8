/* What is known of a terminal behind a descriptor, and whether to use colours on it. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

struct terminal_size {
	int rows;
	int columns;
};

/* A terminal that understands escape sequences: TERM is set, and is not "dumb". */
bool terminal_understands_escapes(int fd);

/* Whether to colour what is written there. `when` is "always", "never" or "auto" (NULL counts as
 * auto): on a terminal that can, unless NO_COLOR is set and not empty (no-color.org). */
bool terminal_wants_color(int fd, const char *when);

/* False while another job of the shell has the terminal (Ctrl-Z, then bg): what is drawn there
 * would be drawn over its prompt. True where there is no job control. */
bool terminal_is_in_foreground(int fd);
/* This process is about to leave its group, whose turn at the terminal stays its own. */
void terminal_keep_group(void);

/* 24 rows of 80 columns where the descriptor does not tell. */
struct terminal_size terminal_size(int fd);

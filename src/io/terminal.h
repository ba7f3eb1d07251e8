/* Facts about the terminal of a descriptor, and whether to use colors on it. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

struct terminal_size {
	int rows;
	int columns;
};

/* A terminal that understands escape sequences: TERM is set, and is not "dumb". */
bool terminal_understands_escapes(int fd);

/* Whether to color output on it. `when` is "always", "never" or "auto" (NULL counts as auto): on a
 * terminal that can, unless NO_COLOR is set and not empty (no-color.org). */
bool terminal_wants_color(int fd, const char *when);

/* False while another job of the shell has the terminal (Ctrl-Z, then bg): drawing would overwrite
 * its prompt. True without job control. */
bool terminal_is_in_foreground(int fd);
/* Call it before this process leaves its process group: terminal_is_in_foreground then keeps
 * checking the old one. */
void terminal_keep_group(void);

/* 24 rows of 80 columns if the descriptor does not tell. */
struct terminal_size terminal_size(int fd);

/* The terminal of a descriptor: facts, colors, single keys, and lines for other processes. */
#pragma once

#include "base/err.h"

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
void terminal_set_size(int fd, struct terminal_size size);

/* A terminal for another process: our end and its end, both close-on-exec. What it writes arrives
 * here unchanged. */
int terminal_new_pair(struct terminal_size size, int *ret_ours, int *ret_its,
		      struct err *err) MUST_USE;

/* A terminal whose keys are bytes for a remote program: no echo, no lines, and Ctrl-C is a byte
 * too. A separate process restores it, on request or when this process exits, for whatever
 * reason. */
struct raw_terminal;

/* Forks. ERR_IO: the descriptor is no terminal, or no process can be started. */
int raw_terminal_begin(int fd, struct raw_terminal **ret_raw, struct err *err) MUST_USE;
/* Returns when the terminal was restored. NULL is fine. */
void raw_terminal_end(struct raw_terminal *raw);

/* Forwards the lines that a user types at our terminal to a process that may not read from it: a
 * process in its own group is in the background for the shell and the terminal (termios(3)).
 *
 * Forks a process that stays in our group. It reads standard input while we are in the foreground,
 * and writes the lines into a pipe, whose other end the caller gets. The pipe ends with Ctrl-D. The
 * process exits when the reader closes the pipe, and with us. ERR_IO. */
int typed_lines_open(int *ret_fd, struct err *err) MUST_USE;

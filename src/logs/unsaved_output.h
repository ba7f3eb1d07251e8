/* Output that no file could take, because the disk is full, on its way to the terminal.
 *
 * The terminal reads the logs (docs/design/0004-logs-go-through-files.md). While a log cannot be
 * written, its missing output is kept in memory, and is read after the last byte of the file. It is
 * little: the writer first asks whether there is room, and otherwise leaves the pipe unread, so
 * that the program waits for the terminal. */
#pragma once

#include "base/own.h"
#include "logs/folder.h"

struct unsaved_output; /* of all logs of one job */
struct unsaved_attempt_output; /* of one attempt */

struct unsaved_output *unsaved_output_new(void) MUST_USE;
void unsaved_output_free(struct unsaved_output *unsaved_output); /* NULL is fine */

/* Whether a reader takes the output. Without a reader, nothing is kept. */
void unsaved_output_set_shown(struct unsaved_output *unsaved_output, bool is_shown);
bool unsaved_output_is_shown(const struct unsaved_output *unsaved_output);

/* The output of an attempt; NULL if there was none so far. Borrowed. */
struct unsaved_attempt_output *unsaved_output_find(const struct unsaved_output *unsaved_output,
						   const struct log_name *name);
/* The same, created if missing. */
struct unsaved_attempt_output *unsaved_output_create(struct unsaved_output *unsaved_output,
						     const struct log_name *name);

void unsaved_output_add(struct unsaved_attempt_output *output, const char *bytes, size_t len);
bool unsaved_output_has_room(const struct unsaved_attempt_output *output);
/* Takes the oldest bytes; returns their number. NULL is fine: none. */
size_t unsaved_output_take(struct unsaved_attempt_output *output, char *bytes, size_t len);
bool unsaved_output_is_empty(const struct unsaved_attempt_output *output); /* NULL is fine */

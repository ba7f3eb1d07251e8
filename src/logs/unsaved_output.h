/* Output that no file could take, because the disk is full, on its way to the
 * terminal.
 *
 * The terminal reads the logs (docs/design/0004-logs-go-through-files.md).
 * While one of them cannot be written, what it lacks stands here, and is read
 * behind the last byte that the file has. It is little: the writer asks first
 * whether there is room, and else leaves the pipe alone, so that the program
 * waits for the terminal. */
#pragma once

#include "base/own.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>

struct unsaved_output; /* of all logs of one job */
struct unsaved_attempt_output; /* of one attempt */

struct unsaved_output *unsaved_output_new(void) MUST_USE;
void unsaved_output_free(struct unsaved_output *unsaved_output); /* NULL is fine */

/* Somebody takes what is here. Before, and when nobody does any more, nothing
 * is kept. */
void unsaved_output_set_shown(struct unsaved_output *unsaved_output, bool is_shown);
bool unsaved_output_is_shown(const struct unsaved_output *unsaved_output);

/* What there is of an attempt; NULL where there was none so far. Borrowed. */
struct unsaved_attempt_output *unsaved_output_find(const struct unsaved_output *unsaved_output,
						   const struct log_name *name);
/* The same, made where it is missing. */
struct unsaved_attempt_output *unsaved_output_create(struct unsaved_output *unsaved_output,
						     const struct log_name *name);

void unsaved_output_add(struct unsaved_attempt_output *output, const char *bytes, size_t len);
bool unsaved_output_has_room(const struct unsaved_attempt_output *output);
/* Takes the oldest bytes; how many there were. NULL is fine: none. */
size_t unsaved_output_take(struct unsaved_attempt_output *output, char *bytes, size_t len);
bool unsaved_output_is_empty(const struct unsaved_attempt_output *output); /* NULL is fine */

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

struct unkept; /* of all logs of one job */
struct unkept_output; /* of one attempt */

struct unkept *unkept_new(void) MUST_USE;
void unkept_free(struct unkept *unkept); /* NULL is fine */

/* Somebody takes what is here. Before, and when nobody does any more, nothing
 * is kept. */
void unkept_set_shown(struct unkept *unkept, bool is_shown);
bool unkept_is_shown(const struct unkept *unkept);

/* What there is of an attempt; NULL where there was none so far. Borrowed. */
struct unkept_output *unkept_find(const struct unkept *unkept, const struct log_name *name);
/* The same, made where it is missing. */
struct unkept_output *unkept_make(struct unkept *unkept, const struct log_name *name);

void unkept_add(struct unkept_output *output, const char *bytes, size_t len);
bool unkept_has_room(const struct unkept_output *output);
/* Takes the oldest bytes; how many there were. NULL is fine: none. */
size_t unkept_take(struct unkept_output *output, char *bytes, size_t len);
bool unkept_is_empty(const struct unkept_output *output); /* NULL is fine */

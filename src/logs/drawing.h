/* What a program draws that moves the cursor up, as rich, Lightning and nested bars of tqdm do:
 * rows that may still be drawn anew are kept here, and each is a line as soon as it cannot change
 * any more. A drawing begins with the first sequence that hides the cursor or moves it up, and is
 * over when the cursor is shown again and all rows were taken.
 *
 * A program moves up by the number of rows that it draws, so as many rows are kept as it has moved
 * up at most. A row above these is kept until the next frame shows whether it belongs to the
 * drawing, or none has begun for a second. */
#pragma once

#include "logs/line.h"

struct drawing;

#define DRAWING_ESCAPE '\x1b' /* the first byte of such sequences */

/* Whether the bytes hold a sequence that begins a drawing; `ret_lifts`: by how many rows they move
 * the cursor up (NULL: not wanted). */
bool drawing_begins(const char *bytes, size_t len, size_t *ret_lifts);

struct drawing *drawing_new(void) MUST_USE;
void drawing_free(struct drawing *drawing); /* NULL is fine */

/* Adds bytes that were written at `time`. Returns how many were used: not those of a sequence that
 * has no end so far, and none after a row that can be taken. */
size_t drawing_add(struct drawing *drawing, const char *bytes, size_t len, msec time);
/* Takes the oldest row, if it cannot change any more; `is_last`: no more bytes will be added. */
bool drawing_take(struct drawing *drawing, bool is_last, struct log_line *ret_line);
bool drawing_is_over(const struct drawing *drawing);
/* All rows, with line feeds between them; false if they are empty. */
bool drawing_show(struct drawing *drawing, struct log_line *ret_line);

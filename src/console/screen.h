/* A place where lines are shown, one below the other. On a terminal, rows stay at the bottom and
 * are drawn anew in place: progress bars of replicas, and one row of muster's own. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "io/loop.h"
#include "io/sink.h"

#include <stdbool.h>

struct screen;

/* `on_room`: what waited is shown, or the terminal is gone. */
struct screen *screen_new(struct loop *loop, int fd, loop_fn on_room, void *data) MUST_USE;
/* Leaves the rows as they are and drops what waits; NULL is fine. */
void screen_free(struct screen *screen);

/* There are rows at the bottom. */
bool screen_is_live(const struct screen *screen);
/* How many rows may be taken. */
int screen_most_rows(const struct screen *screen);

/* Lines are added between these two: to the text, each with its line feed. */
struct text *screen_begin(struct screen *screen);
void screen_end(struct screen *screen);

/* Sets the rows of bars (line feeds between them, none at the end), or muster's row; empty: none.
 * They show with the next screen_end. */
void screen_set_bars(struct screen *screen, const char *rows);
void screen_set_row(struct screen *screen, const char *row);
/* Something of these changed since they were drawn. */
bool screen_is_changed(const struct screen *screen);

bool screen_is_waiting(const struct screen *screen);
bool screen_is_gone(const struct screen *screen);
/* errno of what ended it, 0 while nothing did. */
int screen_failure(const struct screen *screen);

/* Shows lines one below the other. On a terminal, some rows stay at the bottom and are redrawn in
 * place: progress bars of replicas, and one row of muster's own. */
#pragma once

#include "base/text.h"
#include "io/loop.h"
#include "io/sink.h"

struct screen;

/* `on_room`: waiting text was written, or the terminal was closed. */
struct screen *screen_new(struct loop *loop, int fd, loop_fn on_room, void *data) MUST_USE;
/* Leaves the rows as they are and drops waiting text; NULL is fine. */
void screen_free(struct screen *screen);

/* Whether there are rows at the bottom. */
bool screen_is_live(const struct screen *screen);
/* The maximum number of rows. */
int screen_most_rows(const struct screen *screen);

/* Lines are added between these two: to the text, each with its line feed. */
struct text *screen_begin(struct screen *screen);
void screen_end(struct screen *screen);

/* Sets the rows of bars (line feeds between them, none at the end), or muster's row; empty: none.
 * They show with the next screen_end. */
void screen_set_bars(struct screen *screen, const char *rows);
void screen_set_row(struct screen *screen, const char *row);
/* Whether any of these has changed since it was drawn. */
bool screen_is_changed(const struct screen *screen);

bool screen_is_waiting(const struct screen *screen);
bool screen_is_gone(const struct screen *screen);
/* errno of the failure, 0 without one. */
int screen_failure(const struct screen *screen);

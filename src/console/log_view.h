/* Shows the lines of a log reader on a screen as fast as the screen accepts them, and on a terminal
 * the replicas' progress bars below them. Elsewhere, a bar is a line from time to time. Lines of a
 * separate stderr may have a screen of their own.
 *
 * Logs are read when there is news and the screen has room: a slow reader lags, and nothing is kept
 * in memory for it. There is a short pause between two polls, so that much output costs few system
 * calls; without news nothing wakes up. */
#pragma once

#include "base/own.h"
#include "console/line_format.h"
#include "console/screen.h"
#include "io/loop.h"
#include "logs/output_copies.h"
#include "logs/reader.h"

struct log_view;

struct log_outlet {
	struct screen *screen; /* borrowed, as is `format`; freed after the view */
	struct line_format *format;
};

struct log_view_settings {
	struct loop *loop;
	struct log_reader *take_reader;
	struct log_outlet outlet; /* with the bars */
	struct log_outlet error_outlet; /* of lines that a process wrote to a separate stderr;
					   without a screen: `outlet` */
	const struct log_name *only; /* only lines of these replicas; borrowed … */
	size_t n_only; /* … 0: all of them */
	const struct streams *streams; /* only lines that they show; borrowed; NULL: all */
	msec bars_every; /* where there is no terminal: between two lines of a bar; 0: the default
			    of 30 s */
	struct screen *attempts_screen; /* reports the start of another attempt; NULL: not
					   reported */
};

struct log_view *log_view_new(const struct log_view_settings *settings) MUST_USE;
void log_view_free(struct log_view *view); /* NULL is fine */

/* There may be more in the logs. Cheap. */
void log_view_on_news(struct log_view *view);
/* Shows at once what is in the logs, as far as the screens have room; `data` is the view. */
void log_view_show(void *data);
/* The screen has room again, or its reader has closed it (for screen_new's on_room). */
void log_view_on_room(struct log_view *view);
/* No more will be written: calls `on_shown` from the loop when all of it is shown, or the reader
 * has closed the screen. */
void log_view_finish(struct log_view *view, loop_fn on_shown, void *data);

/* The number of lines given to the screen so far. */
size_t log_view_count(const struct log_view *view);
/* The number of last lines, without another between them, that are of this attempt. */
size_t log_view_count_last(const struct log_view *view, const char *role, int index, int attempt);
/* Whether all readers of its screens are gone: then the logs are no longer read. */
bool log_view_is_gone(const struct log_view *view);
struct log_reader *log_view_reader(struct log_view *view); /* borrowed */

#include "engine/screen.h"

#include "base/mem.h"
#include "io/terminal.h"

#include <string.h>

#define ERASE_BELOW "\x1b[J"
/* Rows longer than the terminal is wide are cut by the terminal itself, which knows best how wide
 * its characters are (DECAWM). */
#define WRAP_OFF "\x1b[?7l"
#define WRAP_ON "\x1b[?7h"

struct screen {
	struct sink *sink;
	int fd;
	bool is_live;
	char *bars;
	char *row;
	bool is_changed;
	int n_shown; /* rows that stand at the bottom now */
};

struct screen *screen_new(struct loop *loop, int fd, loop_fn on_room, void *data)
{
	struct screen *screen = mem_new(sizeof(*screen));

	screen->fd = fd;
	screen->is_live = terminal_understands_escapes(fd);
	screen->sink = sink_new(loop, fd, on_room, data);
	screen->bars = mem_copy_text("");
	screen->row = mem_copy_text("");
	return screen;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	sink_free(screen->sink);
	mem_free_text(&screen->bars);
	mem_free_text(&screen->row);
	mem_free_any(&screen);
}

bool screen_is_live(const struct screen *screen)
{
	return screen->is_live;
}

int screen_most_rows(const struct screen *screen)
{
	int rows = terminal_size(screen->fd).rows / 2;

	return rows > 1 ? rows : 1;
}

struct text *screen_begin(struct screen *screen)
{
	struct text *text = sink_text(screen->sink);

	if (screen->n_shown > 0)
		text_add_char(text, '\r');
	if (screen->n_shown > 1)
		text_addf(text, "\x1b[%dA", screen->n_shown - 1);
	if (screen->n_shown > 0)
		text_add(text, ERASE_BELOW);
	screen->n_shown = 0;
	return text;
}

static int count_rows(const char *rows)
{
	int count = rows[0] ? 1 : 0;

	for (; *rows; rows++)
		count += *rows == '\n';
	return count;
}

static void draw(struct screen *screen)
{
	struct text *text = sink_text(screen->sink);
	bool has_both = screen->bars[0] && screen->row[0];

	screen->n_shown = count_rows(screen->bars) + count_rows(screen->row);
	if (screen->n_shown > 0)
		text_addf(text, WRAP_OFF "%s%s%s" WRAP_ON, screen->bars, has_both ? "\n" : "",
			  screen->row);
}

void screen_end(struct screen *screen)
{
	if (screen->is_live)
		draw(screen);
	screen->is_changed = false;
	sink_flush(screen->sink);
}

static void replace(struct screen *screen, char **place, const char *text)
{
	if (strcmp(*place, text) == 0)
		return;
	mem_free_text(place);
	*place = mem_copy_text(text);
	screen->is_changed = true;
}

void screen_set_bars(struct screen *screen, const char *rows)
{
	replace(screen, &screen->bars, rows);
}

void screen_set_row(struct screen *screen, const char *row)
{
	replace(screen, &screen->row, row);
}

bool screen_is_changed(const struct screen *screen)
{
	return screen->is_live && screen->is_changed;
}

bool screen_is_waiting(const struct screen *screen)
{
	return sink_is_waiting(screen->sink);
}

bool screen_is_gone(const struct screen *screen)
{
	return sink_is_gone(screen->sink);
}

int screen_failure(const struct screen *screen)
{
	return sink_failure(screen->sink);
}

#include "console/screen.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "io/terminal.h"

#define ERASE_BELOW "\x1b[J"

struct screen {
	struct sink *sink;
	int fd;
	bool is_live;
	char *bars;
	char *row;
	bool is_changed;
	struct text shown; /* the rows that are at the bottom now, each with its line feed */
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
	text_done(&screen->shown);
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

static size_t columns_of(const struct screen *screen)
{
	return (size_t) terminal_size(screen->fd).columns;
}

/* The number of terminal rows that our own take now: a terminal that was made narrower has wrapped
 * them, also those drawn before we knew its new width. */
static size_t count_rows(const struct screen *screen)
{
	size_t columns = columns_of(screen), count = 0;
	const char *end;

	for (const char *at = text_of(&screen->shown); (end = strchr(at, '\n')); at = end + 1)
		count += line_rows(at, (size_t) (end - at), columns);
	return count;
}

struct text *screen_begin(struct screen *screen)
{
	struct text *text = sink_text(screen->sink);

	if (screen->shown.len == 0)
		return text;
	size_t n_rows = count_rows(screen);

	text_clear(&screen->shown);
	if (!terminal_is_in_foreground(screen->fd))
		return text; /* other writers have written below them */
	text_add_char(text, '\r');
	if (n_rows > 1)
		text_addf(text, "\x1b[%zuA", n_rows - 1);
	text_add(text, ERASE_BELOW);
	return text;
}

static void add_screen_rows(struct screen *screen, const char *rows)
{
	size_t columns = columns_of(screen), len;

	for (; *rows; rows += len + (rows[len] == '\n')) {
		len = strcspn(rows, "\n");
		line_add_cut(&screen->shown, rows, len, columns);
		text_add_char(&screen->shown, '\n');
	}
}

void screen_end(struct screen *screen)
{
	struct text *text = sink_text(screen->sink);

	if (screen->is_live && terminal_is_in_foreground(screen->fd)) {
		add_screen_rows(screen, screen->bars);
		add_screen_rows(screen, screen->row);
		if (screen->shown.len > 0)
			text_add_bytes(text, screen->shown.bytes, screen->shown.len - 1);
	}
	screen->is_changed = false;
	sink_flush(screen->sink);
}

void screen_set_bars(struct screen *screen, const char *rows)
{
	screen->is_changed |= text_keep(&screen->bars, rows);
}

void screen_set_row(struct screen *screen, const char *row)
{
	screen->is_changed |= text_keep(&screen->row, row);
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

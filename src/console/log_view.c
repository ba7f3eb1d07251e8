#include "console/log_view.h"

/* Bytes that are collected before a write, and the most bytes in one iteration of the loop. */
#define WRITE_SIZE 65536
#define TURN_SIZE ((size_t) 1 << 20)

/* Between two polls of the logs. A terminal is redrawn at most 20 times a second. */
#define PAUSE ((msec) 10)
#define PAUSE_ON_TERMINAL ((msec) 50)
/* A terminal shows an unfinished line when nothing was added to it for this time. */
#define PAUSE_BEFORE_OPEN_LINE ((msec) 200)

#define BARS_EVERY (30 * MSEC_PER_SECOND)
#define BARS_EVERY_IN_NOTEBOOK (10 * MSEC_PER_SECOND) /* somebody looks */
#define MOST_BYTES_OF_ROW 2048
#define N_OUTLETS 2

struct log_view {
	struct log_view_settings settings;
	struct log_outlet outlets[N_OUTLETS]; /* by whether a line is of a separate stderr */
	size_t n_outlets; /* with a screen of their own */
	struct loop_watch *timer;
	instant looks_at; /* when the timer is armed for; INSTANT_NEVER: it is not */
	instant next_look; /* not earlier, so that much output costs few polls */
	bool is_finishing;
	loop_fn on_shown;
	void *data;
	struct text bars;
	instant bars_at; /* when they are due as lines; INSTANT_UNSET: there is no news */
	msec bars_until; /* the time of the last byte of those that were shown */
	size_t n_lines;
	struct log_name last; /* of which the last `n_last` lines were */
	size_t n_last;
};

struct log_view *log_view_new(const struct log_view_settings *settings)
{
	struct log_view *view = mem_new(sizeof(*view));

	view->settings = *settings;
	if (view->settings.bars_every == 0)
		view->settings.bars_every =
			getenv("JPY_PARENT_PID") ? BARS_EVERY_IN_NOTEBOOK : BARS_EVERY;
	view->outlets[0] = view->outlets[1] = settings->outlet;
	if (settings->error_outlet.screen)
		view->outlets[1] = settings->error_outlet;
	view->n_outlets = view->outlets[1].screen == view->outlets[0].screen ? 1 : N_OUTLETS;
	view->timer = loop_new_timer(view->settings.loop, log_view_show, view);
	view->looks_at = INSTANT_NEVER;
	log_view_on_news(view);
	return view;
}

void log_view_free(struct log_view *view)
{
	if (!view)
		return;
	loop_watch_free(view->timer);
	log_reader_free(view->settings.take_reader);
	text_done(&view->bars);
	mem_free_any(&view);
}

/* With the bars. */
static struct screen *main_screen(const struct log_view *view)
{
	return view->outlets[0].screen;
}

bool log_view_is_gone(const struct log_view *view)
{
	for (size_t i = 0; i < view->n_outlets; i++)
		if (!screen_is_gone(view->outlets[i].screen))
			return false;
	return true;
}

static bool is_any_screen_waiting(const struct log_view *view)
{
	for (size_t i = 0; i < view->n_outlets; i++)
		if (screen_is_waiting(view->outlets[i].screen))
			return true;
	return false;
}

static void end_screens(const struct log_view *view)
{
	for (size_t i = 0; i < view->n_outlets; i++)
		screen_end(view->outlets[i].screen);
}

struct log_reader *log_view_reader(struct log_view *view)
{
	return view->settings.take_reader;
}

size_t log_view_count(const struct log_view *view)
{
	return view->n_lines;
}

size_t log_view_count_last(const struct log_view *view, const char *role, int index, int attempt)
{
	const struct log_name *last = &view->last;
	bool is_it =
		last->index == index && last->attempt == attempt && text_equals(last->role, role);

	return is_it ? view->n_last : 0;
}

static void arm_log_view_timer(struct log_view *view, instant at)
{
	view->looks_at = at;
	loop_timer_arm(view->timer, at);
}

void log_view_on_news(struct log_view *view)
{
	if (instant_is_before(view->next_look, view->looks_at))
		arm_log_view_timer(view, view->next_look);
}

void log_view_on_room(struct log_view *view)
{
	arm_log_view_timer(view, INSTANT_UNSET);
}

void log_view_finish(struct log_view *view, loop_fn on_shown, void *data)
{
	view->is_finishing = true;
	view->on_shown = on_shown;
	view->data = data;
	log_reader_end(view->settings.take_reader);
	arm_log_view_timer(view, INSTANT_UNSET);
}

static void print_attempt_start(struct log_view *view, const struct log_name *name)
{
	if (!view->settings.attempts_screen)
		return;
	text_addf(screen_begin(view->settings.attempts_screen), "muster: %s-%d starts attempt %d\n",
		  name->role, name->index, name->attempt);
	if (view->settings.attempts_screen != main_screen(view))
		screen_end(view->settings.attempts_screen);
}

static bool is_log_wanted(const struct log_view *view, const struct log_name *name)
{
	return log_name_is_listed(view->settings.only, view->settings.n_only, name) &&
	       streams_show(view->settings.streams, name);
}

/* Adds lines until there is enough to write, or as much was read; false when there are no more for
 * now. Adds the bytes read to *read. */
static bool add_lines(struct log_view *view, size_t *read)
{
	struct text *texts[N_OUTLETS];
	struct log_line line;

	for (size_t i = 0; i < N_OUTLETS; i++)
		texts[i] = screen_begin(view->outlets[i].screen);
	for (size_t end = *read + WRITE_SIZE;
	     *read < end && texts[0]->len < WRITE_SIZE && texts[1]->len < WRITE_SIZE;) {
		if (!log_reader_next(view->settings.take_reader, &line))
			return false;
		*read += line.len + 1;
		if (!is_log_wanted(view, line.name))
			continue;
		if (line.is_first)
			print_attempt_start(view, line.name);
		line_format_add(view->outlets[line.name->is_stderr].format, &line,
				texts[line.name->is_stderr]);
		view->n_last = 1 + log_view_count_last(view, line.name->role, line.name->index,
						       line.name->attempt);
		if (view->n_last == 1)
			view->last = *line.name;
		view->n_lines++;
	}
	return true;
}

/* Shows the lines of one iteration; true when there may be more. */
static bool show_lines(struct log_view *view)
{
	size_t read = 0;
	bool has_more = true;

	while (has_more && read < TURN_SIZE && !is_any_screen_waiting(view)) {
		has_more = add_lines(view, &read);
		if (has_more)
			end_screens(view);
	}
	return has_more;
}

/* The first row of an unfinished line, or the one after `row`. False: that was the last. */
static bool next_row(const struct log_line *open, struct log_line *row)
{
	const char *end = open->bytes + open->len;
	const char *at = row->bytes ? row->bytes + row->len + 1 : open->bytes;

	if (at > end)
		return false;
	const char *line_feed = memchr(at, '\n', (size_t) (end - at));

	*row = *open;
	row->bytes = at;
	row->len = (size_t) ((line_feed ? line_feed : end) - at);
	return true;
}

/* Adds the rows of a replica, but not more than `most`; returns how many. */
static int add_rows(struct log_view *view, const struct log_line *open, int most, bool follows)
{
	struct log_line row = {0};
	int n_rows = 0;

	for (; n_rows < most && next_row(open, &row); n_rows++) {
		if (follows || n_rows > 0)
			text_add_char(&view->bars, '\n');
		line_format_add_row(view->outlets[0].format, &row, MOST_BYTES_OF_ROW, &view->bars);
	}
	return n_rows;
}

/* Makes the rows of bars, and one for those without room; true when an unfinished line may be shown
 * a little later. */
static bool set_bars(struct log_view *view)
{
	struct log_replica replica;
	int n_rows = 0, n_hidden = 0;
	int most = screen_most_rows(main_screen(view));
	bool comes_later = false;

	text_clear(&view->bars);
	for (size_t i = 0; log_reader_replica(view->settings.take_reader, i, &replica); i++) {
		if (!replica.has_open_line || !is_log_wanted(view, &replica.name))
			continue;
		if (!replica.open_line.is_bar && !replica.open_line.is_quiet) {
			comes_later = true;
			continue;
		}
		replica.open_line.name = &replica.name;
		if (n_rows >= most)
			n_hidden++;
		else
			n_rows += add_rows(view, &replica.open_line, most - n_rows, n_rows > 0);
	}
	if (n_hidden > 0)
		text_addf(&view->bars, "\n(%d more replicas)", n_hidden);
	screen_set_bars(main_screen(view), text_of(&view->bars));
	return comes_later;
}

static void add_bar_lines(struct log_view *view, const struct log_line *open)
{
	const struct log_outlet *outlet = &view->outlets[open->name->is_stderr];
	struct text *text = screen_begin(outlet->screen);
	struct log_line row = {0};

	while (next_row(open, &row))
		line_format_add(outlet->format, &row, text);
}

/* Shows the bars that have moved since the last time as lines, if they are due. */
static void show_bar_lines(struct log_view *view, instant now)
{
	struct log_replica replica;
	msec until = view->bars_until;
	bool has_moved = false;

	if (!instant_is_set(view->bars_at))
		view->bars_at = instant_add(now, view->settings.bars_every);
	if (instant_is_before(now, view->bars_at))
		return;
	for (size_t i = 0; log_reader_replica(view->settings.take_reader, i, &replica); i++) {
		struct log_line *open = &replica.open_line;

		if (!replica.has_open_line || !open->is_bar || open->time <= view->bars_until ||
		    !is_log_wanted(view, &replica.name))
			continue;
		open->name = &replica.name;
		add_bar_lines(view, open);
		until = msec_max(until, open->time);
		has_moved = true;
	}
	view->bars_until = until;
	view->bars_at = has_moved ? instant_add(now, view->settings.bars_every) : INSTANT_UNSET;
	if (has_moved)
		view->n_last = 0; /* of the last lines, not all stand together any more */
}

/* One poll of the logs: lines, then bars, then the time of the next poll without news. */
void log_view_show(void *data)
{
	struct log_view *view = data;
	bool has_more = false;
	bool comes_later = false;

	view->looks_at = INSTANT_NEVER;
	if (is_any_screen_waiting(view))
		return;
	if (!log_view_is_gone(view)) {
		log_reader_poll(view->settings.take_reader);
		has_more = show_lines(view);
		if (screen_is_live(main_screen(view)))
			comes_later = set_bars(view);
		else
			show_bar_lines(view, loop_monotonic_now());
		screen_begin(main_screen(view));
		end_screens(view);
	}
	if (log_view_is_gone(view))
		log_reader_give_up(view->settings.take_reader);
	instant now = loop_monotonic_now();

	view->next_look =
		instant_add(now, screen_is_live(main_screen(view)) ? PAUSE_ON_TERMINAL : PAUSE);
	if (has_more)
		arm_log_view_timer(view, now);
	else if (comes_later)
		arm_log_view_timer(view, instant_add(now, PAUSE_BEFORE_OPEN_LINE));
	else if (view->is_finishing && view->on_shown &&
		 (!is_any_screen_waiting(view) || log_view_is_gone(view)))
		loop_defer(view->settings.loop, TAKE(view->on_shown), view->data);
	else if (instant_is_set(view->bars_at))
		arm_log_view_timer(view, view->bars_at);
}

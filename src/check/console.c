#include "check/console.h"

#include "base/mem.h"
#include "check/describe.h"
#include "check/report.h"
#include "check/text.h"
#include "console/screen.h"
#include "io/file.h"
#include "io/terminal.h"

#include <unistd.h>

struct check_console {
	struct loop *loop;
	struct screen *screen;
	const char *format;
	struct check_style style;
	bool has_heading;
	enum check_step next; /* the first step whose line was not printed */
	bool is_finished;
	loop_fn on_drained;
	void *data;
};

static void finish_if_drained(struct check_console *console)
{
	bool is_drained = !screen_is_waiting(console->screen) || screen_is_gone(console->screen);

	if (console->is_finished && is_drained && console->on_drained)
		loop_defer(console->loop, TAKE(console->on_drained), console->data);
}

static void on_check_console_room(void *data)
{
	finish_if_drained(data);
}

struct check_console *check_console_new(const struct check_console_settings *settings)
{
	struct check_console *console = mem_new(sizeof(*console));
	int fd = text_equals(settings->format, "text") ? STDOUT_FILENO : STDERR_FILENO;

	console->loop = settings->loop;
	console->format = settings->format;
	console->screen = screen_new(settings->loop, fd, on_check_console_room, console);
	console->style = (struct check_style){
		.has_color = terminal_wants_color(fd, settings->color),
		.is_verbose = settings->is_verbose,
	};
	return console;
}

void check_console_free(struct check_console *console)
{
	if (!console)
		return;
	screen_free(console->screen);
	mem_free_any(&console);
}

/* Appends the passed steps, in order, up to the current one. */
static void add_steps(struct check_console *console, const struct check *check, struct text *text)
{
	for (; console->next < CHECK_STEP_COUNT; console->next++) {
		enum check_state state = check->steps[console->next].state;

		if (state == CHECK_PASSED)
			check_text_add_step(check, console->next, &console->style, text);
		else if (state != CHECK_SKIPPED)
			return;
	}
}

static void set_row(struct check_console *console, const struct check *check)
{
	struct text row CLEANUP(text_done) = {0};

	check_describe_progress(check, &row);
	if (row.len > 0) {
		struct text indented CLEANUP(text_done) = {0};

		text_addf(&indented, "  %s", text_of(&row));
		screen_set_row(console->screen, text_of(&indented));
	} else {
		screen_set_row(console->screen, "");
	}
}

void check_console_show(struct check_console *console, const struct check *check)
{
	struct text news CLEANUP(text_done) = {0};

	if (!console->has_heading)
		check_text_add_heading(check, &news);
	console->has_heading = true;
	add_steps(console, check, &news);
	set_row(console, check);
	if (news.len == 0 && !screen_is_changed(console->screen))
		return;
	text_add_bytes(screen_begin(console->screen), text_of(&news), news.len);
	screen_end(console->screen);
}

/* Output to a closed reader is dropped. */
static void print_check_text(const struct text *text)
{
	file_write_all(STDOUT_FILENO, text_of(text), text->len, NULL);
}

static void print_object(const struct check_console *console, const struct check *check)
{
	struct text text CLEANUP(text_done) = {0};

	if (text_equals(console->format, "json")) {
		struct json *object CLEANUP(json_cleanup) = check_write_json(check);

		json_add_pretty(&text, object);
	} else if (text_equals(console->format, "junit")) {
		check_write_junit(check, &text);
	}
	print_check_text(&text);
}

void check_console_finish(struct check_console *console, const struct check *check,
			  loop_fn on_drained, void *data)
{
	check_console_show(console, check);
	struct text *text = screen_begin(console->screen);

	if (check->fault)
		check_text_add_step(check, check->fault->step, &console->style, text);
	check_text_add_end(check, &console->style, text);
	screen_end(console->screen);
	print_object(console, check);
	console->is_finished = true;
	console->on_drained = on_drained;
	console->data = data;
	finish_if_drained(console);
}

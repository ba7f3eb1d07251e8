#include "command/output.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "command/command.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* errno of the first write to stdout that failed. */
static int lost_errno;

static void note_loss(void)
{
	if (!lost_errno)
		lost_errno = errno ? errno : EIO;
}

void output_add_screen(const struct text *screen)
{
	if (screen->len && fwrite(screen->bytes, 1, screen->len, stdout) != screen->len)
		note_loss();
}

void output_add(const struct text *text)
{
	struct text lines CLEANUP(text_done) = {0};

	line_text_add_lines(&lines, text_of(text), text->len);
	output_add_screen(&lines);
}

bool output_add_changed(const struct text *text, void (*add)(const struct text *text),
			struct text *last)
{
	if (text_equals(text_of(text), text_of(last)))
		return false;
	add(text);
	text_clear(last);
	text_add(last, text_of(text));
	return !output_flush();
}

void output_add_object(const struct json *object, const char *format)
{
	struct text text CLEANUP(text_done) = {0};

	if (text_equals(format, "yaml"))
		yaml_add(&text, object);
	else
		json_add_pretty(&text, object);
	output_add(&text);
}

void output_add_objects(const struct json *list, const char *format)
{
	struct text text CLEANUP(text_done) = {0};

	if (!text_equals(format, "yaml")) {
		struct json *object CLEANUP(json_cleanup) =
			json_new_texts("apiVersion", "v1", "kind", "List", NULL);

		json_set(object, "items", json_new_copy(list));
		output_add_object(object, format);
		return;
	}
	for (size_t i = 0; i < json_count(list); i++) {
		if (i > 0)
			text_add(&text, "---\n");
		yaml_add(&text, json_at(list, i));
	}
	output_add(&text);
}

void output_add_event(const struct json *event)
{
	struct text line CLEANUP(text_done) = {0};

	json_add_compact(&line, event);
	text_add_char(&line, '\n');
	output_add(&line);
	output_flush();
}

bool output_flush(void)
{
	if (fflush(stdout))
		note_loss();
	return !lost_errno;
}

void output_print_errors(const struct text *text)
{
	struct text lines CLEANUP(text_done) = {0};
	struct text visible CLEANUP(text_done) = {0};

	line_text_add_lines(&lines, text_of(text), text->len);
	lookalike_add_visible(&visible, text_of(&lines), lines.len);
	fputs(text_of(&visible), stderr);
}

/* One write, so that the sentences of processes that share a terminal do not mix. */
void output_print_sentence(const char *sentence, void *data)
{
	struct text line CLEANUP(text_done) = {0};

	(void) data;
	text_add(&line, "muster: ");
	line_text_add_sentence(&line, sentence, strlen(sentence));
	text_add_char(&line, '\n');
	output_print_errors(&line);
}

void output_print_message(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *sentence CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	output_print_sentence(sentence, NULL);
}

int output_fail_with(int exit_code, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *sentence CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	output_print_sentence(sentence, NULL);
	return exit_code;
}

void output_print_messages(const struct text *lines)
{
	size_t len;

	for (const char *line = text_of(lines); *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		output_print_message("%.*s", (int) len, line);
	}
}

int output_fail(const struct err *err)
{
	output_print_message("%s", err->text);
	return err->code == ERR_INVALID       ? EXIT_USAGE
	       : err->code == ERR_UNREACHABLE ? EXIT_NOT_REACHED
	       : err->code == ERR_REFUSED     ? EXIT_REFUSED
					      : EXIT_FAILED;
}

int output_finish(int exit_code)
{
	if (output_flush() || lost_errno == EPIPE)
		return exit_code;
	output_print_message("standard output: %s", strerror(lost_errno));
	return EXIT_FAILED;
}

bool times_are_local(const struct options *options)
{
	return !option_flag(options, "utc") && isatty(STDOUT_FILENO);
}

#include "local/error_file.h"

#include "base/json.h"
#include "io/file.h"
#include "spec/limits.h"

#define LONGEST_ERROR ((size_t) 256 * 1024)

/* NULL if there is none. */
static struct json *read_error(const char *path, msec *ret_time)
{
	int fd CLEANUP(file_close) = file_open_regular(path, O_RDONLY);
	struct stat status;
	struct json *document = NULL;

	if (fd < 0 || fstat(fd, &status) < 0)
		return NULL;
	char *bytes CLEANUP(mem_free_text) = mem_new(LONGEST_ERROR);
	size_t len = file_read_at(fd, bytes, LONGEST_ERROR, 0);

	*ret_time =
		(msec) status.st_mtim.tv_sec * MSEC_PER_SECOND + status.st_mtim.tv_nsec / 1000000;
	return json_read_repaired(bytes, len, &document, NULL) < 0 ? NULL : document;
}

/* {"message": {"message": "ValueError: no", "extraInfo": {"py_callstack": "Traceback …"}}}, or
 * {"message": "no"}. */
static const char *text_of_error(const struct json *document)
{
	const struct json *message = json_get(document, "message");
	const char *stack =
		json_as_string(json_get_path(message, "extraInfo", "py_callstack", NULL), NULL);

	if (stack && *stack)
		return stack;
	return json_as_string(
		json_is(message, JSON_STRING) ? message : json_get(message, "message"), NULL);
}

/* PyTorch prints its exceptions after "[rank1]: ". */
static bool was_printed(const struct printed *printed, const char *line)
{
	for (size_t i = 0; i < printed->count; i++)
		if (text_ends_with(printed->lines[i], line))
			return true;
	return false;
}

/* Makes room for `count` lines at the end; the oldest ones go. */
static void make_room(struct printed *printed, size_t count, size_t most, struct arena *arena)
{
	struct printed wider = {
		.lines = arena_take_array(arena, most, sizeof(*wider.lines)),
		.times = arena_take_array(arena, most, sizeof(*wider.times)),
	};
	size_t kept = printed->count < most - count ? printed->count : most - count;
	size_t dropped = printed->count - kept;

	for (size_t i = 0; i < kept; i++) {
		wider.lines[i] = printed->lines[dropped + i];
		wider.times[i] = printed->times ? printed->times[dropped + i] : MSEC_UNSET;
	}
	wider.count = kept;
	*printed = wider;
}

void error_file_add(const char *path, size_t most, struct arena *arena, struct printed *printed)
{
	msec time = MSEC_UNSET;
	struct json *document CLEANUP(json_cleanup) = read_error(path, &time);
	char *rest = arena_copy_text(arena, document ? text_of_error(document) : NULL), *line;
	char **lines = arena_take_array(arena, most, sizeof(*lines));
	size_t count = 0;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		if (count == most)
			memmove(lines, lines + 1, --count * sizeof(*lines));
		line[strnlen(line, LIMIT_LAST_LINE_LENGTH)] = '\0';
		lines[count++] = line;
	}
	if (count == 0 || was_printed(printed, lines[count - 1]))
		return;
	make_room(printed, count, most, arena);
	for (size_t i = 0; i < count; i++) {
		printed->times[printed->count] = time;
		printed->lines[printed->count++] = lines[i];
	}
}

int error_file_export(const char *path, int exit_code, const char *to, struct err *err)
{
	msec time;
	struct json *document CLEANUP(json_cleanup) = read_error(path, &time);
	struct json *message = json_get(document, "message");
	struct text text CLEANUP(text_done) = {0};

	if (!message)
		return 0;
	if (json_is(message, JSON_OBJECT))
		json_set(message, "errorCode", json_new_integer(exit_code));
	json_add_compact(&text, document);
	return file_replace(to, text_of(&text), text.len, err);
}

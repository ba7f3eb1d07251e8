#include "status/spied_stacks.h"

#include "base/json.h"
#include "base/line_text.h"
#include "base/mem.h"
#include "status/stacks.h"

#include <inttypes.h>
#include <string.h>

#define OUR_MARK "# "

static const char *text_in(const struct json *object, const char *key)
{
	return json_as_string(json_get(object, key), "?");
}

static void add_safely(struct text *text, const char *words)
{
	line_text_add_sentence(text, words, strlen(words));
}

/* On Linux the main thread's id is the process id; with musl's libc threads have no ids. */
static bool is_main(const struct json *thread)
{
	int64_t id = json_as_integer(json_get(thread, "os_thread_id"), 0);

	return id ? id == json_as_integer(json_get(thread, "pid"), 0)
		  : text_equals(text_in(thread, "thread_name"), "MainThread");
}

static void add_head(struct text *text, const struct json *thread)
{
	if (is_main(thread)) {
		text_add(text, "Current thread 0");
	} else {
		text_addf(text, "Thread %" PRId64 " [",
			  json_as_integer(json_get(thread, "os_thread_id"), 0));
		add_safely(text, text_in(thread, "thread_name"));
		text_add(text, "]");
	}
	text_add(text, " (most recent call first):\n");
}

static void add_frame(struct text *text, const struct json *frame)
{
	text_add(text, "  File \"");
	add_safely(text, text_in(frame, "filename"));
	text_addf(text, "\", line %" PRId64 " in ", json_as_integer(json_get(frame, "line"), 0));
	add_safely(text, text_in(frame, "name"));
	text_add_char(text, '\n');
}

static void add_threads(struct text *text, const struct text *output)
{
	struct json *threads CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (output->len == 0)
		return;
	if (json_read_repaired(output->bytes, output->len, &threads, &err) < 0 ||
	    json_type_of(threads) != JSON_ARRAY) {
		stacks_add_obstacle(text, "the output of py-spy cannot be read");
		return;
	}
	for (size_t i = 0; i < json_count(threads); i++) {
		const struct json *frames = json_get(json_at(threads, i), "frames");

		add_head(text, json_at(threads, i));
		for (size_t j = 0; j < json_count(frames); j++)
			add_frame(text, json_at(frames, j));
	}
}

void spied_stacks_add(struct text *text, const char *output)
{
	struct text threads CLEANUP(text_done) = {0};

	for (size_t len; *output; output += len) {
		len = strcspn(output, "\n");
		len += output[len] == '\n';
		if (!text_starts_with(output, OUR_MARK)) {
			text_add_bytes(&threads, output, len);
			continue;
		}
		add_threads(text, &threads);
		text_clear(&threads);
		text_add_bytes(text, output, len);
	}
	add_threads(text, &threads);
}

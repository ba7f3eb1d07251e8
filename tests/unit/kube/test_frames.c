#include "unit.h"

#include "base/mem.h"
#include "kube/frames.h"

struct seen {
	struct text events;
	int n_left; /* events that are wanted; negative: all */
};

static bool note(const struct kube_event *event, void *data)
{
	struct seen *seen = data;

	text_addf(&seen->events, "%d", event->type);
	json_add_compact(&seen->events, event->object);
	return --seen->n_left != 0;
}

static int take(const char *bytes, size_t piece, struct seen *seen, struct err *err)
{
	struct kube_frames frames = {0};
	size_t len = strlen(bytes);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < len; i += piece)
		rc = kube_frames_take(&frames, bytes + i, len - i < piece ? len - i : piece, note,
				      seen, err);
	kube_frames_done(&frames);
	return rc;
}

TEST(lines_come_whole_however_they_are_cut)
{
	const char *bytes = "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n\r\n"
			    "{\"type\":\"BOOKMARK\",\"object\":{}}\n{\"type\":\"DELE";

	for (size_t piece = 1; piece < 80; piece++) {
		struct seen seen = {.n_left = -1};

		assert_int_equal(take(bytes, piece, &seen, NULL), 0);
		assert_string_equal(text_of(&seen.events), "0{\"a\":1}3{}");
		text_done(&seen.events);
	}
}

TEST(what_is_no_event_ends_the_watch)
{
	static const char *const lines[] = {
		"<html>\n",
		"{}\n",
		"[]\n",
		"{\"type\":\"ADDED\"}\n",
		"{\"type\":\"ADDED\",\"object\":null}\n",
		"{\"type\":\"NEWS\",\"object\":{}}\n",
		"{\"type\":7,\"object\":{}}\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct seen seen = {.n_left = -1};

		assert_int_equal(take(lines[i], 1000, &seen, NULL), ERR_INVALID);
		assert_int_equal(seen.events.len, 0);
	}
}

TEST(a_line_without_an_end_is_not_kept_for_ever)
{
	struct kube_frames frames = {0};
	size_t len = 1024 * 1024, taken = 0;
	char *part CLEANUP(mem_free_text) = mem_new(len);
	int rc = 0;

	memset(part, 'x', len);
	for (; rc == 0 && taken < 100; taken++)
		rc = kube_frames_take(&frames, part, len, note, NULL, NULL);
	assert_int_equal(rc, ERR_LIMIT);
	assert_int_equal(taken, KUBE_FRAME_LIMIT / len + 1);
	kube_frames_done(&frames);
}

TEST(who_wants_no_more_gets_no_more)
{
	struct seen seen = {.n_left = 1};

	assert_int_equal(
		take("{\"type\":\"ADDED\",\"object\":{}}\n{\"type\":\"ADDED\",\"object\":{}}\n",
		     1000, &seen, NULL),
		0);
	assert_string_equal(text_of(&seen.events), "0{}");
	text_done(&seen.events);
}

/* The names of its members are a stranger's where a CRD keeps what it does not know. */
TEST(who_wrote_which_field_is_left_out)
{
	const char *line =
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"managedFields\":"
		"[{\"f\":[\"]\\\"\"]},[]],\"uid\":\"u\"},\"x,\\\"managedFields\":[1],\"y\":"
		"\",\\\"managedFields\\\":[\"}}\n";
	const char *rest = "\"x,\\\"managedFields\":[1],\"y\":\",\\\"managedFields\\\":[\"}";
	char *wanted CLEANUP(mem_free_text) =
		mem_format("%d{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},%s", KUBE_ADDED, rest);

	for (size_t piece = 1; piece < 200; piece++) {
		struct seen seen = {.n_left = -1};

		assert_int_equal(take(line, piece, &seen, NULL), 0);
		assert_string_equal(text_of(&seen.events), wanted);
		text_done(&seen.events);
	}
}

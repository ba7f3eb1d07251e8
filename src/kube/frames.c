#include "kube/frames.h"

#include "base/names.h"

/* Inside a string its quotes would be escaped, and a comma before a string's end is not followed by
 * letters. So this is a member, and not the first one. */
#define MEMBER ",\"managedFields\":["

/* The position after the bracket that closes the array; NULL: none. */
static const char *end_of_array(const char *at, const char *end)
{
	bool is_in_string = false;
	int depth = 1;

	for (; at < end && depth > 0; at++) {
		if (is_in_string && *at == '\\' && at + 1 < end)
			at++;
		else if (*at == '"')
			is_in_string = !is_in_string;
		else if (!is_in_string)
			depth += (*at == '[') - (*at == ']');
	}
	return depth == 0 ? at : NULL;
}

/* Returns false, and leaves the text empty, if there is nothing to remove. */
static bool remove_writers(const char *bytes, size_t len, struct text *text)
{
	const char *at = bytes, *end = bytes + len, *member, *behind;

	while ((member = memmem(at, (size_t) (end - at), MEMBER, strlen(MEMBER))) &&
	       (behind = end_of_array(member + strlen(MEMBER), end))) {
		text_add_bytes(text, at, (size_t) (member - at));
		at = behind;
	}
	if (at != bytes)
		text_add_bytes(text, at, (size_t) (end - at));
	return at != bytes;
}

int kube_json_read(const char *bytes, size_t len, bool has_writers, struct json **ret_value,
		   struct err *err)
{
	struct text shorter CLEANUP(text_done) = {0};

	return !has_writers && remove_writers(bytes, len, &shorter)
		       ? json_read_repaired(shorter.bytes, shorter.len, ret_value, err)
		       : json_read_repaired(bytes, len, ret_value, err);
}

static const char *const type_words[] = {
	[KUBE_ADDED] = "ADDED",       [KUBE_MODIFIED] = "MODIFIED", [KUBE_DELETED] = "DELETED",
	[KUBE_BOOKMARK] = "BOOKMARK", [KUBE_ERROR] = "ERROR",
};

/* Returns 0 and sets *ret_goes_on, or returns an error. */
static int parse_frame_line(const char *line, size_t len, bool has_writers, kube_event_fn fn,
			    void *data, bool *ret_goes_on, struct err *err)
{
	struct json *frame CLEANUP(json_cleanup) = NULL;

	*ret_goes_on = true;
	if (strspn(line, " \t\r") == len) /* its end, or a line feed, follows */
		return 0;
	int rc = kube_json_read(line, len, has_writers, &frame, err);

	if (rc < 0) {
		err_prefix(err, "an event of the watch cannot be read");
		return rc;
	}
	const char *word = json_get_string(frame, "type", "");
	int type = name_find_word(type_words, ARRAY_LEN(type_words), word);
	const struct json *object = json_get(frame, "object");

	if (type < 0 || !json_is(object, JSON_OBJECT))
		return err_set(err, ERR_INVALID,
			       "the server sent an unknown event of the watch (type '%.20s')",
			       word);
	const struct kube_event event = {(enum kube_event_type) type, object};

	*ret_goes_on = fn(&event, data);
	return 0;
}

/* Appends a partial line to its earlier parts; whole lines are never copied. */
static int append_partial_frame(struct kube_frames *frames, const char *bytes, size_t len,
				struct err *err)
{
	if (len > KUBE_FRAME_LIMIT - frames->line.len)
		return err_set(err, ERR_LIMIT, "an event of the watch is larger than %zu bytes",
			       KUBE_FRAME_LIMIT);
	text_add_bytes(&frames->line, bytes, len);
	return 0;
}

int kube_frames_take(struct kube_frames *frames, const char *bytes, size_t len, kube_event_fn fn,
		     void *data, struct err *err)
{
	const char *end = bytes + len;
	bool goes_on = true, has_writers = frames->has_writers;
	int rc = 0;

	for (const char *feed; rc == 0 && goes_on && bytes < end; bytes = feed + 1) {
		feed = memchr(bytes, '\n', (size_t) (end - bytes));
		if (!feed || frames->line.len)
			rc = append_partial_frame(frames, bytes,
						  (size_t) ((feed ? feed : end) - bytes), err);
		if (!feed || rc < 0)
			return rc;
		if (!frames->line.len) {
			rc = parse_frame_line(bytes, (size_t) (feed - bytes), has_writers, fn, data,
					      &goes_on, err);
			continue;
		}
		/* The callback may free the frames. */
		struct text line CLEANUP(text_done) = frames->line;

		frames->line = (struct text){0};
		rc = parse_frame_line(line.bytes, line.len, has_writers, fn, data, &goes_on, err);
	}
	return rc;
}

void kube_frames_done(struct kube_frames *frames)
{
	text_done(&frames->line);
	*frames = (struct kube_frames){0};
}

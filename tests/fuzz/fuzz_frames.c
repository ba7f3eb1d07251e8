/* Any bytes as a watch: however they are cut, the same events come of them, and the same end. */
#include "fuzz.h"

#include "kube/frames.h"

#include <stdlib.h>

static bool add_event(const struct kube_event *event, void *data)
{
	struct text *events = data;

	text_addf(events, "%d ", event->type);
	json_add_compact(events, event->object);
	return true;
}

/* The events of the bytes taken in pieces of `size`, and how it ended. */
static int take_in_pieces(const char *bytes, size_t len, size_t size, struct text *events)
{
	struct kube_frames frames = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < len; i += size)
		rc = kube_frames_take(&frames, bytes + i, len - i < size ? len - i : size,
				      add_event, events, NULL);
	kube_frames_done(&frames);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const size_t sizes[] = {1, 3, 7, 64};
	struct text whole CLEANUP(text_done) = {0};
	int rc = take_in_pieces((const char *) bytes, len, len ? len : 1, &whole);

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct text events CLEANUP(text_done) = {0};

		if (take_in_pieces((const char *) bytes, len, sizes[i], &events) != rc ||
		    !text_equals(text_of(&events), text_of(&whole)))
			abort();
	}
	return 0;
}

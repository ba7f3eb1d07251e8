/* Any bytes as the messages of an exec, each behind a byte with its length: what is handed on lies
 * in its message, and the end does not depend on how the Status was cut. */
#include "fuzz.h"

#include "kube/channels.h"

#include <stdlib.h>

static void check_event(const struct kube_channel_event *event, const char *message, size_t len)
{
	if (event->type == KUBE_CHANNEL_BYTES &&
	    (event->bytes != message + 1 || event->len != len - 1 || !event->len))
		abort();
}

/* The Status once more, a byte at a time. */
static int end_in_pieces(const struct text *status, int *ret_exit_code)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event;

	for (size_t i = 0; i < status->len; i++) {
		const char message[] = {KUBE_CHANNEL_STATUS, status->bytes[i]};

		if (kube_channels_take(&channels, message, sizeof(message), &event, NULL) < 0)
			abort();
	}
	return kube_channels_end(&channels, ret_exit_code, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	int code = -1, code_in_pieces = -1;

	for (size_t at = 0; at < len;) {
		const char *message = (const char *) bytes + at + 1;
		size_t left = len - at - 1;
		size_t message_len = bytes[at] < left ? bytes[at] : left;
		struct kube_channel_event event;

		if (kube_channels_take(&channels, message, message_len, &event, NULL) == 0)
			check_event(&event, message, message_len);
		at += 1 + message_len;
	}
	int rc = kube_channels_end(&channels, &code, NULL);

	if (end_in_pieces(&channels.status, &code_in_pieces) != rc || code_in_pieces != code)
		abort();
	return 0;
}

/* Any bytes as the messages of an exec, and of a port-forward, each behind a byte with its length:
 * what is handed on lies in its message, and what came does not depend on how it was cut. */
#include "fuzz.h"

#include "pods/channels.h"

#include <stdlib.h>
#include <string.h>

static void check_event(const struct kube_channel_event *event, const char *message, size_t len)
{
	if (event->len > 0 && (event->bytes != message + 1 || event->len != len - 1))
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

/* A port-forward as far as it was understood. */
struct forwarded {
	struct kube_port_frames frames;
	struct text data;
	int rc;
};

static void forwarded_done(struct forwarded *forwarded)
{
	kube_port_frames_done(&forwarded->frames);
	text_done(&forwarded->data);
}

static void forward(struct forwarded *forwarded, const char *message, size_t len)
{
	const char *data;
	size_t n_data;

	if (forwarded->rc == 0)
		forwarded->rc = kube_port_frames_take(&forwarded->frames, message, len, &data,
						      &n_data, NULL);
	if (forwarded->rc < 0)
		return;
	if (data < message || data + n_data > message + len)
		abort();
	text_add_bytes(&forwarded->data, data, n_data);
}

static void forward_in_pieces(struct forwarded *forwarded, const char *message, size_t len)
{
	if (len < 2)
		forward(forwarded, message, len);
	for (size_t i = 1; i < len; i++)
		forward(forwarded, (const char[]){message[0], message[i]}, 2);
}

/* The messages go to port 0x0101, so that a fuzzer comes past its bytes. */
static void check_forward(const char *bytes, size_t len)
{
	struct forwarded whole CLEANUP(forwarded_done) = {.frames.port = 0x0101};
	struct forwarded pieces CLEANUP(forwarded_done) = {.frames.port = 0x0101};

	for (size_t at = 0; at < len;) {
		size_t left = len - at - 1, asked = (unsigned char) bytes[at];
		size_t message_len = asked < left ? asked : left;

		forward(&whole, bytes + at + 1, message_len);
		forward_in_pieces(&pieces, bytes + at + 1, message_len);
		at += 1 + message_len;
	}
	if (whole.rc != pieces.rc || whole.data.len != pieces.data.len ||
	    memcmp(text_of(&whole.data), text_of(&pieces.data), whole.data.len) != 0 ||
	    kube_port_frames_end(&whole.frames, "pod", NULL) !=
		    kube_port_frames_end(&pieces.frames, "pod", NULL))
		abort();
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
	check_forward((const char *) bytes, len);
	return 0;
}

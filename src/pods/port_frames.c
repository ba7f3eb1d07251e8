#include "pods/port_frames.h"

#include "base/line_text.h"

#include <string.h>

#define COMPLAINT_LIMIT ((size_t) 4096) /* an error's sentence is shorter */
#define PORT_LEN ((size_t) 2)

/* The port is in little-endian order, and may arrive in two parts. */
static int verify_forwarded_port(struct kube_port_frames *frames, size_t *n_taken,
				 const char **bytes, size_t *len, struct err *err)
{
	while (*n_taken < PORT_LEN && *len) {
		int wanted = frames->port >> (8 * *n_taken) & 0xff;

		if ((unsigned char) **bytes != wanted)
			return err_set(err, ERR_INVALID,
				       "the server forwards another port than the requested %d",
				       frames->port);
		++*n_taken;
		++*bytes;
		--*len;
	}
	return 0;
}

static void store_server_complaint(struct kube_port_frames *frames, const char *bytes, size_t len)
{
	size_t room = COMPLAINT_LIMIT - frames->complaint.len;

	text_add_bytes(&frames->complaint, bytes, len < room ? len : room);
}

int kube_port_frames_take(struct kube_port_frames *frames, const char *message, size_t len,
			  const char **ret_bytes, size_t *ret_len, struct err *err)
{
	const char *bytes = message + 1;

	if (!len)
		return err_set(err, ERR_INVALID, "the server sent a message without a channel");
	unsigned char channel = (unsigned char) message[0];

	*ret_bytes = bytes;
	*ret_len = 0;
	if (channel >= KUBE_PORT_CHANNELS)
		return 0;
	len--;
	if (verify_forwarded_port(frames, &frames->n_taken[channel], &bytes, &len, err) < 0)
		return ERR_INVALID;
	if (channel == KUBE_PORT_ERROR) {
		store_server_complaint(frames, bytes, len);
	} else {
		*ret_bytes = bytes;
		*ret_len = len;
	}
	return 0;
}

/* Container runtimes write a long message around these two words, with sandboxes and network
 * namespaces. */
static bool is_refused(const char *complaint)
{
	return strstr(complaint, "onnection refused");
}

int kube_port_frames_end(const struct kube_port_frames *frames, const char *pod, struct err *err)
{
	struct text line CLEANUP(text_done) = {0};

	if (!frames->complaint.len)
		return 0;
	line_text_add_sentence(&line, frames->complaint.bytes, frames->complaint.len);
	if (is_refused(text_of(&line)))
		return err_set(err, ERR_UNREACHABLE,
			       "no program listens on port %d of Pod '%s' (connection refused)",
			       frames->port, pod);
	return err_set(err, ERR_UNREACHABLE, "port %d of Pod '%s' cannot be reached: %s",
		       frames->port, pod, text_of(&line));
}

void kube_port_frames_done(struct kube_port_frames *frames)
{
	text_done(&frames->complaint);
}

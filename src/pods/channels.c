#include "pods/channels.h"

#include "base/json.h"
#include "base/line_text.h"

#define COMPLAINT_LIMIT ((size_t) 4096) /* an error's sentence is shorter */
#define PORT_LEN ((size_t) 2)

bool kube_channels_choose(struct kube_channels *channels, const char *protocol)
{
	channels->can_close = text_equals(protocol, KUBE_CHANNELS_V5);
	return channels->can_close || text_equals(protocol, KUBE_CHANNELS_V4);
}

int kube_channels_take(struct kube_channels *channels, const char *message, size_t len,
		       struct kube_channel_event *ret_event, struct err *err)
{
	if (!len)
		return err_set(err, ERR_INVALID, "the server sent a message without a channel");
	unsigned char channel = (unsigned char) message[0];

	*ret_event = (struct kube_channel_event){.channel = (enum kube_channel) channel,
						 .bytes = message + 1};
	len--;
	if (channel == KUBE_CHANNEL_CLOSE && len != 1)
		return err_set(err, ERR_INVALID,
			       "the server closed a channel that it did not name");
	if (channel == KUBE_CHANNEL_OUTPUT || channel == KUBE_CHANNEL_ERROR_OUTPUT)
		ret_event->len = len;
	if (channel != KUBE_CHANNEL_STATUS)
		return 0;
	/* The Status may arrive in several pieces: the API server copies it from another
	 * connection. It may also start with an empty message, as a greeting. */
	if (len > KUBE_CHANNELS_STATUS_LIMIT - channels->status.len)
		return err_set(err, ERR_LIMIT, "the status of the command is larger than %zu bytes",
			       KUBE_CHANNELS_STATUS_LIMIT);
	text_add_bytes(&channels->status, message + 1, len);
	return 0;
}

/* The exit code is text among the causes of the failure. */
static int read_exit_code(const struct json *status, int *ret_exit_code, struct err *err)
{
	const struct json *causes = json_get_path(status, "details", "causes", NULL);
	int64_t code;

	for (size_t i = 0; i < json_count(causes); i++) {
		const struct json *cause = json_at(causes, i);

		if (!text_equals(json_get_string(cause, "reason", ""), "ExitCode"))
			continue;
		const char *word = json_get_string(cause, "message", "");

		if (text_read_int(word, 1, INT32_MAX, &code, NULL) < 0)
			break;
		*ret_exit_code = (int) code;
		return 0;
	}
	return err_set(err, ERR_INVALID, "the server did not report the exit code of the command");
}

int kube_channels_end(const struct kube_channels *channels, int *ret_exit_code, struct err *err)
{
	struct json *status CLEANUP(json_cleanup) = NULL;

	if (!channels->status.len)
		return err_set(err, ERR_UNREACHABLE,
			       "the connection was lost before the command ended");
	int rc = json_read(channels->status.bytes, channels->status.len, &status, err);

	if (rc < 0) {
		err_prefix(err, "the status of the command cannot be read");
		return rc;
	}
	const char *word = json_get_string(status, "status", "");
	const char *reason = json_get_string(status, "reason", "");
	bool has_failed = text_equals(word, "Failure");

	if (has_failed && text_equals(reason, "NonZeroExitCode"))
		return read_exit_code(status, ret_exit_code, err);
	if (has_failed)
		return err_set(err, ERR_REFUSED, "the command did not finish: %s",
			       json_get_string(status, "message", reason));
	if (!text_equals(word, "Success"))
		return err_set(err, ERR_INVALID,
			       "the status of the command is neither Success nor Failure");
	*ret_exit_code = 0;
	return 0;
}

void kube_channels_done(struct kube_channels *channels)
{
	text_done(&channels->status);
	*channels = (struct kube_channels){0};
}

static void add_channel(struct text *message, enum kube_channel channel)
{
	text_add_char(message, (char) channel);
}

void kube_channels_add_input(struct text *message, const char *bytes, size_t len)
{
	add_channel(message, KUBE_CHANNEL_INPUT);
	text_add_bytes(message, bytes, len);
}

/* TerminalSize of remotecommand.go; its members keep their Go names in JSON. */
void kube_channels_add_size(struct text *message, int columns, int rows)
{
	add_channel(message, KUBE_CHANNEL_RESIZE);
	text_addf(message, "{\"Width\":%d,\"Height\":%d}", columns, rows);
}

int kube_channels_add_end_of_input(const struct kube_channels *channels, struct text *message,
				   struct err *err)
{
	if (!channels->can_close)
		return err_set(err, ERR_UNSUPPORTED,
			       "this server cannot close the standard input of a command; "
			       "Kubernetes supports it since version 1.30");
	add_channel(message, KUBE_CHANNEL_CLOSE);
	add_channel(message, KUBE_CHANNEL_INPUT);
	return 0;
}

/* Port-forward. */

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
		size_t room = COMPLAINT_LIMIT - frames->complaint.len;

		text_add_bytes(&frames->complaint, bytes, len < room ? len : room);
	} else {
		*ret_bytes = bytes;
		*ret_len = len;
	}
	return 0;
}

int kube_port_frames_end(const struct kube_port_frames *frames, const char *pod, struct err *err)
{
	struct text line CLEANUP(text_done) = {0};

	if (!frames->complaint.len)
		return 0;
	line_text_add_sentence(&line, frames->complaint.bytes, frames->complaint.len);
	/* Container runtimes write a long message around these two words, with sandboxes and
	 * network namespaces. */
	if (strstr(text_of(&line), "onnection refused"))
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

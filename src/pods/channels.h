/* The messages over the WebSocket of an exec or attach, and of a port-forward: a channel's number
 * in one byte, then bytes of that channel. Converts bytes to events and back; pure.
 *
 * Source of the rules: Kubernetes' k8s.io/apimachinery/pkg/util/remotecommand/constants.go,
 * k8s.io/client-go/tools/remotecommand/v4.go and
 * k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go. */
#pragma once

#include "base/text.h"

/* Sub-protocols, the preferred one first. The older one cannot close standard input. */
#define KUBE_CHANNELS_V5 "v5.channel.k8s.io"
#define KUBE_CHANNELS_V4 "v4.channel.k8s.io"

/* Of the Status that ends a command. */
#define KUBE_CHANNELS_STATUS_LIMIT ((size_t) 64 * 1024)

enum kube_channel {
	KUBE_CHANNEL_INPUT = 0,
	KUBE_CHANNEL_OUTPUT = 1,
	KUBE_CHANNEL_ERROR_OUTPUT = 2,
	KUBE_CHANNEL_STATUS = 3, /* how the command exited, as a Status object */
	KUBE_CHANNEL_RESIZE = 4,
	KUBE_CHANNEL_CLOSE = 255, /* its one byte is the channel that is closed */
};

/* The state of one connection. Zero it to begin. */
struct kube_channels {
	bool can_close; /* the server chose KUBE_CHANNELS_V5 */
	struct text status; /* the Status object, as far as it has arrived */
};

/* What a message has of one of the two outputs. */
struct kube_channel_event {
	enum kube_channel channel;
	const char *bytes; /* borrowed from the message */
	size_t len; /* 0: nothing: a greeting, a piece of the Status, a channel that is closed */
};

/* Records the sub-protocol that the server chose (NULL: none). False: it is neither of ours. */
bool kube_channels_choose(struct kube_channels *channels, const char *protocol);
/* Reads one message. Unknown channels are ignored, as kubectl does. ERR_INVALID: an empty message,
 * or a close without a channel; ERR_LIMIT: the Status is too long. */
int kube_channels_take(struct kube_channels *channels, const char *message, size_t len,
		       struct kube_channel_event *ret_event, struct err *err) MUST_USE;
/* How the command exited. Call it only after the connection was closed, because output may follow
 * the Status. 0 with its exit code; ERR_REFUSED: it did not run, with the reason; ERR_UNREACHABLE:
 * the connection was lost before it exited; ERR_INVALID: an invalid Status. */
int kube_channels_end(const struct kube_channels *channels, int *ret_exit_code,
		      struct err *err) MUST_USE;
void kube_channels_done(struct kube_channels *channels);

/* Messages to the server, added to the text. */
void kube_channels_add_input(struct text *message, const char *bytes, size_t len);
/* The size of the terminal; ignored by a command without one. */
void kube_channels_add_size(struct text *message, int columns, int rows);
/* Ends standard input. ERR_UNSUPPORTED: the server's sub-protocol has no message for it. */
int kube_channels_add_end_of_input(const struct kube_channels *channels, struct text *message,
				   struct err *err) MUST_USE;

/* A port-forward of one port. The server starts both channels with the port, in two bytes. */

/* The only sub-protocol of these messages. */
#define KUBE_PORT_FRAMES_V4 "v4.channel.k8s.io"

enum kube_port_channel {
	KUBE_PORT_DATA = 0,
	KUBE_PORT_ERROR = 1, /* text; then the connection ends */
	KUBE_PORT_CHANNELS = 2,
};

/* The state of one connection. Initialize it with the port alone. */
struct kube_port_frames {
	int port; /* the requested port of the Pod */
	size_t n_taken[KUBE_PORT_CHANNELS]; /* bytes of each channel's port that have arrived */
	struct text complaint; /* text of the error channel; cut if it is long */
};

/* Reads one message. *ret_bytes, borrowed from the message, is its data; its length is 0 for a
 * message without data of the Pod. Unknown channels are ignored. ERR_INVALID: a message without a
 * channel, or for another port. */
int kube_port_frames_take(struct kube_port_frames *frames, const char *message, size_t len,
			  const char **ret_bytes, size_t *ret_len, struct err *err) MUST_USE;
/* Call it after the connection was closed. ERR_UNREACHABLE with the server's error, as a sentence
 * that names port and Pod; 0: no error. */
int kube_port_frames_end(const struct kube_port_frames *frames, const char *pod,
			 struct err *err) MUST_USE;
void kube_port_frames_done(struct kube_port_frames *frames);

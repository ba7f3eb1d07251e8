/* The messages of a port-forward of one port over its WebSocket: a channel's number in one byte,
 * then bytes of that channel. The server starts both channels with the port, in two bytes; we do
 * not. Pure.
 *
 * Source of the rules: Kubernetes' k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

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

/* What a port-forward of one port says over its WebSocket: each message is a channel's number in
 * one byte, and bytes of that channel. The server begins both channels with the port, in two bytes;
 * we do not. Pure.
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
	KUBE_PORT_ERROR = 1, /* text, and the connection ends */
	KUBE_PORT_CHANNELS = 2,
};

/* What has come of one connection. Begin it with the port alone. */
struct kube_port_frames {
	int port; /* in the Pod, that was asked for */
	size_t n_taken[KUBE_PORT_CHANNELS]; /* bytes of each channel's port that have come */
	struct text complaint; /* of the error channel; its beginning, if it is long */
};

/* Reads one message. Its data, which lies in the message, is *ret_bytes; 0 of them for all that is
 * not the Pod's. Channels that nobody knows are passed over. ERR_INVALID: a message without a
 * channel, or of another port. */
int kube_port_frames_take(struct kube_port_frames *frames, const char *message, size_t len,
			  const char **ret_bytes, size_t *ret_len, struct err *err) MUST_USE;
/* When the connection is closed: what the server complained of, as a sentence that names port and
 * Pod. 0: of nothing; ERR_UNREACHABLE. */
int kube_port_frames_end(const struct kube_port_frames *frames, const char *pod,
			 struct err *err) MUST_USE;
void kube_port_frames_done(struct kube_port_frames *frames);

/* Forwards one connection of this machine to a port of a Pod, over its own WebSocket.
 *
 * Neither side is read while the other one accepts nothing, so memory is bounded and the sender is
 * slowed down. The protocol has no half-closed connections, so the server cannot be told that the
 * client has stopped sending. A client that has only stopped sending gets the Pod's data until the
 * Pod is silent for a while. */
#pragma once

#include "base/err.h"
#include "kube/api.h"

/* How long a Pod may be silent after the client has stopped sending. */
#define KUBE_PORT_FORWARD_SILENCE (10 * MSEC_PER_SECOND)

struct kube_port_forward_request {
	const char *namespace_name; /* NULL: the login's */
	const char *pod;
	int port; /* of the Pod's localhost */
	int take_fd; /* a connected socket; closed at the end in any case */
	/* The last call, once. `err` is NULL when both sides have finished, or the client has
	 * closed its connection; ERR_UNREACHABLE: no process listens on the port, or the connection
	 * was lost; else as in kube/status.h. After an error, the client's connection is reset, so
	 * that it does not look finished. */
	void (*on_end)(const struct err *err, void *data);
	void *data;
};

struct kube_port_forward;

/* The request, except its callback, is needed only until this returns. */
struct kube_port_forward *
kube_port_forward_new(struct kube_api *api,
		      const struct kube_port_forward_request *request) MUST_USE;
/* Cancels it without a callback; not from `on_end`. NULL is fine. */
void kube_port_forward_cancel(struct kube_port_forward *forward);

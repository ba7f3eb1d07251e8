/* One connection of this machine carried to a port of a Pod, over a WebSocket of its own.
 *
 * Neither side is read while the other one takes nothing, so that memory is bounded and the sender
 * feels it. The server cannot be told that no more is sent while the answer is waited for (its
 * protocol has no half-closed connections): a client here that only stopped sending gets what the
 * Pod still sends, until that says nothing for a while. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

/* How long a Pod may be silent when the client here sends no more. */
#define KUBE_PORT_FORWARD_SILENCE (10 * MSEC_PER_SECOND)

struct kube_port_forward_request {
	struct loop *loop;
	const char *namespace_name; /* NULL: the login's */
	const char *pod;
	int port; /* of the Pod, where its own processes reach it as localhost */
	int take_fd; /* a connected socket; closed at the end, however that comes */
	/* The last call, once. `err` is NULL when both sides had what they wanted, or the client
	 * went away; ERR_UNREACHABLE: nothing listens there, or the way was lost; else as of
	 * kube/status.h. The client then sees a connection that was cut, and not an end. */
	void (*on_end)(const struct err *err, void *data);
	void *data;
};

struct kube_port_forward;

/* The request, but for its callback, is needed only until this returns. */
struct kube_port_forward *
kube_port_forward_new(struct kube_api *api,
		      const struct kube_port_forward_request *request) MUST_USE;
/* Ends it without a callback; not from `on_end`. NULL is fine. */
void kube_port_forward_cancel(struct kube_port_forward *forward);

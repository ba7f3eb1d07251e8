/* The client's socket is read into the WebSocket while that has room. The WebSocket is read into a
 * sink for the socket, which pauses the WebSocket while the client is slow. */
#include "pods/port_forward.h"

#include "io/file.h"
#include "io/sink.h"
#include "pods/channels.h"

#include <sys/socket.h>

#define READ_SIZE ((size_t) 32 * 1024) /* as kubectl */
#define MESSAGE_LIMIT ((size_t) 1024 * 1024) /* servers send 32 KiB */
/* Pings at half of this time keep proxies from closing a quiet connection. While a Pod does not
 * read its data, its server does not read pings either (seen with containerd 1.6), which is no
 * reason to close it soon. */
#define SILENCE (240 * MSEC_PER_SECOND)

struct kube_port_forward {
	struct kube_port_forward_request request; /* its callback */
	char *pod;
	struct kube_call *call; /* NULL: the Pod's side is closed */
	struct kube_port_frames frames;
	struct sink *sink; /* to the client */
	struct loop_watch *readable; /* the client's socket */
	struct loop_watch *timer; /* armed when one side was closed */
	struct websocket *websocket; /* NULL: not open yet */
	bool is_closing; /* we requested that */
	bool has_client_ended; /* it has stopped sending */
	struct err err;
};

static const char *const protocols[] = {KUBE_PORT_FRAMES_V4, NULL};

void kube_port_forward_cancel(struct kube_port_forward *forward)
{
	if (!forward)
		return;
	kube_call_cancel(forward->call);
	loop_watch_free(forward->readable);
	loop_watch_free(forward->timer);
	sink_free(forward->sink);
	file_close(&forward->request.take_fd);
	kube_port_frames_done(&forward->frames);
	free(forward->pod);
	free(forward);
}

static void finish_port_forward(struct kube_port_forward *forward)
{
	const struct linger at_once = {.l_onoff = 1};
	const struct kube_port_forward_request request = forward->request;
	const struct err err = forward->err;

	/* Incomplete data must not look complete: the client's next read fails. */
	if (err.code)
		setsockopt(request.take_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	kube_port_forward_cancel(forward);
	request.on_end(err.code ? &err : NULL, request.data);
}

/* The client has closed its connection: the Pod's error about it is not reported. */
static void finish_silently(struct kube_port_forward *forward)
{
	forward->err = (struct err){0};
	finish_port_forward(forward);
}

/* An error of the server counts, however the connection ended. */
static void evaluate_forward_end(struct kube_port_forward *forward, const struct err *lost)
{
	if (forward->err.code ||
	    kube_port_frames_end(&forward->frames, forward->pod, &forward->err))
		return;
	if (lost && lost->code == ERR_NOT_FOUND)
		err_set(&forward->err, ERR_NOT_FOUND, "Pod '%s' does not exist now", forward->pod);
	else if (lost)
		forward->err = *lost;
}

static void arm_timer(struct kube_port_forward *forward)
{
	loop_timer_arm_after(forward->timer, KUBE_PORT_FORWARD_SILENCE);
}

static void on_port_forward_timer(void *data)
{
	struct kube_port_forward *forward = data;

	if (sink_is_waiting(forward->sink)) {
		arm_timer(forward); /* only the client is slow */
		return;
	}
	evaluate_forward_end(forward, NULL);
	finish_port_forward(forward);
}

/* From the client to the Pod. */

static void set_reading(struct kube_port_forward *forward)
{
	bool is_taken = !forward->call || (forward->websocket && !forward->is_closing &&
					   websocket_has_room(forward->websocket));

	loop_watch_enable(forward->readable, is_taken && !forward->has_client_ended);
}

static void on_forward_client_readable(void *data)
{
	struct kube_port_forward *forward = data;
	char message[1 + READ_SIZE];
	ssize_t len = recv(forward->request.take_fd, message + 1, READ_SIZE, MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len < 0) {
		finish_silently(forward);
	} else if (len == 0) {
		forward->has_client_ended = true;
		set_reading(forward);
		if (forward->call)
			arm_timer(forward);
		else if (!sink_is_waiting(forward->sink))
			finish_port_forward(forward);
	} else if (forward->call) {
		message[0] = KUBE_PORT_DATA;
		websocket_send(forward->websocket, message, (size_t) len + 1);
		set_reading(forward);
	}
}

static void on_port_forward_room(void *data)
{
	set_reading(data);
}

/* From the Pod to the client. */

/* Reads until the client has closed too: closing a socket with unread bytes would drop data that
 * the client has not received yet. */
static void end_toward_client(struct kube_port_forward *forward)
{
	if (forward->err.code || forward->has_client_ended) {
		finish_port_forward(forward);
		return;
	}
	shutdown(forward->request.take_fd, SHUT_WR);
	set_reading(forward);
	arm_timer(forward);
}

static void on_sink_change(void *data)
{
	struct kube_port_forward *forward = data;

	if (sink_is_gone(forward->sink))
		finish_silently(forward);
	else if (forward->call)
		websocket_resume(forward->websocket);
	else
		end_toward_client(forward);
}

static void write_to_client(struct kube_port_forward *forward, const char *bytes, size_t len)
{
	text_add_bytes(sink_text(forward->sink), bytes, len);
	sink_flush(forward->sink);
	if (sink_is_gone(forward->sink)) {
		finish_silently(forward);
		return;
	}
	if (sink_is_waiting(forward->sink))
		websocket_pause(forward->websocket);
	if (forward->has_client_ended)
		arm_timer(forward);
}

/* The error is known; the server has a while to close. */
static void close_websocket(struct kube_port_forward *forward)
{
	if (forward->is_closing)
		return;
	forward->is_closing = true;
	websocket_close(forward->websocket);
	set_reading(forward);
	arm_timer(forward);
}

static void on_port_forward_open(struct websocket *websocket, const char *protocol, void *data)
{
	struct kube_port_forward *forward = data;

	forward->websocket = websocket;
	if (!text_equals(protocol, KUBE_PORT_FRAMES_V4)) {
		err_set(&forward->err, ERR_UNSUPPORTED,
			"the server does not support the protocol " KUBE_PORT_FRAMES_V4
			" for port forwarding");
		close_websocket(forward);
	}
	set_reading(forward);
}

static void on_port_forward_message(const char *message, size_t len, void *data)
{
	struct kube_port_forward *forward = data;
	const char *bytes;

	if (forward->err.code)
		return;
	int rc = kube_port_frames_take(&forward->frames, message, len, &bytes, &len, &forward->err);

	if (rc < 0 || forward->frames.complaint.len)
		close_websocket(forward);
	if (rc == 0 && len)
		write_to_client(forward, bytes, len); /* this may free it */
}

static void end_websocket(const struct kube_result *result, void *data)
{
	struct kube_port_forward *forward = data;

	evaluate_forward_end(forward, result->err);
	set_reading(forward);
	if (!sink_is_waiting(forward->sink))
		end_toward_client(forward);
}

static void call_pod(struct kube_api *api, struct kube_port_forward *forward)
{
	static const struct websocket_request socket = {
		.protocols = protocols,
		.http.output_idle = SILENCE,
		.limit = MESSAGE_LIMIT,
		.on_open = on_port_forward_open,
		.on_message = on_port_forward_message,
		.on_room = on_port_forward_room,
	};
	char *port CLEANUP(mem_free_text) = mem_format("%d", forward->frames.port);
	const struct kube_parameter parameters[] = {{"ports", port}, {0}};
	const struct kube_request call = {
		KUBE_GET,     &kube_pods,    forward->request.namespace_name,
		forward->pod, "portforward", .parameters = parameters};

	kube_socket_start(&forward->call, api, &call, &socket, end_websocket, forward);
}

struct kube_port_forward *kube_port_forward_new(struct kube_api *api,
						const struct kube_port_forward_request *request)
{
	struct kube_port_forward *forward = mem_new(sizeof(*forward));
	struct loop *loop = api->loop;

	forward->request = *request;
	forward->pod = mem_copy_text(request->pod);
	forward->frames.port = request->port;
	forward->sink = sink_new(loop, request->take_fd, on_sink_change, forward);
	forward->readable =
		loop_watch_readable(loop, request->take_fd, on_forward_client_readable, forward);
	forward->timer = loop_new_timer(loop, on_port_forward_timer, forward);
	loop_watch_enable(forward->readable, false);
	call_pod(api, forward);
	return forward;
}

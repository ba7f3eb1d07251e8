#include "pods/exec.h"

#define MESSAGE_SIZE ((size_t) 32 * 1024) /* of input; as kubectl */
#define SILENCE (60 * MSEC_PER_SECOND)

struct kube_exec {
	struct kube_exec_request request; /* the callbacks */
	struct kube_call *call;
	struct websocket *websocket; /* NULL: not open yet */
	struct kube_channels channels;
	struct err err; /* the server sent an invalid message */
};

static const char *const protocols[] = {KUBE_CHANNELS_V5, KUBE_CHANNELS_V4, NULL};

/* The words of the command, then the rest. Caller frees. */
static struct kube_parameter *parameters_of(const struct kube_exec_request *request)
{
	const struct kube_parameter rest[] = {
		{"container", request->container.name},
		{"stdin", request->has_input ? "true" : NULL},
		{"stdout", "true"},
		{request->is_terminal ? "tty" : "stderr", "true"},
		{0},
	};
	size_t n_words = 0;

	while (request->command && request->command[n_words])
		n_words++;
	struct kube_parameter *parameters =
		mem_new_array(n_words + ARRAY_LEN(rest), sizeof(*parameters));

	for (size_t i = 0; i < n_words; i++)
		parameters[i] = (struct kube_parameter){"command", request->command[i]};
	memcpy(parameters + n_words, rest, sizeof(rest));
	return parameters;
}

void kube_exec_cancel(struct kube_exec *exec)
{
	if (!exec)
		return;
	kube_call_cancel(exec->call);
	kube_channels_done(&exec->channels);
	free(exec);
}

static void begin_exec(struct websocket *websocket, const char *protocol, void *data)
{
	struct kube_exec *exec = data;

	exec->websocket = websocket;
	if (!kube_channels_choose(&exec->channels, protocol)) {
		err_set(&exec->err, ERR_UNSUPPORTED,
			"the server only supports protocols older than " KUBE_CHANNELS_V4
			" for commands");
		websocket_close(exec->websocket);
	} else if (exec->request.on_room) {
		exec->request.on_room(exec->request.data);
	}
}

static void on_exec_message(const char *bytes, size_t len, void *data)
{
	struct kube_exec *exec = data;
	struct kube_channel_event event;

	if (exec->err.code)
		return;
	if (kube_channels_take(&exec->channels, bytes, len, &event, &exec->err) < 0)
		websocket_close(exec->websocket);
	else if (event.len > 0 && exec->request.on_output) /* which may cancel */
		exec->request.on_output(event.channel, event.bytes, event.len, exec->request.data);
	/* After a channel was closed, the connection will be, too. */
}

static void on_exec_websocket_room(void *data)
{
	const struct kube_exec *exec = data;

	if (exec->request.on_room)
		exec->request.on_room(exec->request.data);
}

static void end_exec(const struct kube_result *result, void *data)
{
	struct kube_exec *exec = data;
	struct err err = {0};
	int exit_code = -1;

	if (exec->err.code)
		err = exec->err;
	else if (result->err && !exec->channels.status.len)
		err = *result->err;
	else /* a complete Status counts, however the connection ended */
		(void) !kube_channels_end(&exec->channels, &exit_code, &err);
	exec->request.on_end(exit_code, err.code ? &err : NULL, exec->request.data);
	kube_exec_cancel(exec);
}

struct kube_exec *kube_exec_new(struct kube_api *api, const struct kube_exec_request *request)
{
	static const struct websocket_request socket = {
		.protocols = protocols,
		.http.output_idle = SILENCE,
		.on_open = begin_exec,
		.on_message = on_exec_message,
		.on_room = on_exec_websocket_room,
	};
	struct kube_parameter *parameters CLEANUP(mem_free_any) = parameters_of(request);
	struct kube_exec *exec = mem_new(sizeof(*exec));
	const struct kube_request call = {KUBE_GET,
					  &kube_pods,
					  request->container.namespace_name,
					  request->container.pod,
					  request->command ? "exec" : "attach",
					  .parameters = parameters};

	exec->request = *request;
	kube_socket_start(&exec->call, api, &call, &socket, end_exec, exec);
	return exec;
}

bool kube_exec_has_room(const struct kube_exec *exec)
{
	return exec->websocket && websocket_has_room(exec->websocket);
}

static void send_text(struct kube_exec *exec, const struct text *message)
{
	websocket_send(exec->websocket, message->bytes, message->len);
}

void kube_exec_send(struct kube_exec *exec, const char *bytes, size_t len)
{
	struct text message CLEANUP(text_done) = {0};

	while (len) {
		size_t part = len < MESSAGE_SIZE ? len : MESSAGE_SIZE;

		text_clear(&message);
		kube_channels_add_input(&message, bytes, part);
		send_text(exec, &message);
		bytes += part;
		len -= part;
	}
}

int kube_exec_end_input(struct kube_exec *exec, struct err *err)
{
	struct text message CLEANUP(text_done) = {0};
	int rc = kube_channels_add_end_of_input(&exec->channels, &message, err);

	if (!rc)
		send_text(exec, &message);
	return rc;
}

void kube_exec_resize(struct kube_exec *exec, int columns, int rows)
{
	struct text message CLEANUP(text_done) = {0};

	kube_channels_add_size(&message, columns, rows);
	send_text(exec, &message);
}

void kube_exec_pause(struct kube_exec *exec)
{
	websocket_pause(exec->websocket);
}

void kube_exec_resume(struct kube_exec *exec)
{
	websocket_resume(exec->websocket);
}

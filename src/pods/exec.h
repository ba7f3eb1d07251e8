/* A command in a container of a Pod (exec), or the container's own command (attach): its input,
 * outputs and exit code. Uses v5.channel.k8s.io, or v4 with an older server. */
#pragma once

#include "base/err.h"
#include "kube/api.h"
#include "pods/channels.h"

#include <stdbool.h>

struct kube_exec;

struct kube_container {
	const char *namespace_name; /* NULL: the login's */
	const char *pod;
	const char *name; /* NULL: the Pod's default one */
};

struct kube_exec_request {
	struct kube_container container;
	const char *const *command; /* with its arguments; ends with NULL; NULL itself: attach */
	bool has_input;
	bool is_terminal; /* then both outputs are one */

	/* Output of KUBE_CHANNEL_OUTPUT or _ERROR_OUTPUT. May pause or cancel. NULL: dropped. */
	void (*on_output)(enum kube_channel channel, const char *bytes, size_t len, void *data);
	/* There is room for input: called at the start, and later again. NULL: no input. */
	void (*on_room)(void *data);
	/* The last call, once. `err` is NULL when the command exited, with `exit_code`;
	 * ERR_REFUSED: it could not run; ERR_UNREACHABLE: its fate is unknown; else as in
	 * kube/status.h: no such Pod, no permission. */
	void (*on_end)(int exit_code, const struct err *err, void *data);
	void *data;
};

/* The request is needed only until this returns. It is freed after on_end or by kube_exec_cancel;
 * either must come before kube_api_free. */
struct kube_exec *kube_exec_new(struct kube_api *api, const struct kube_exec_request *request);
/* Closes the connection without a callback; the command may go on. Not from `on_end`. NULL:
 * none. */
void kube_exec_cancel(struct kube_exec *exec);

/* False before the first on_room. */
bool kube_exec_has_room(const struct kube_exec *exec);
/* Always takes the bytes: check for room before sending much. Not before the first on_room. */
void kube_exec_send(struct kube_exec *exec, const char *bytes, size_t len);
/* Ends the input after what was sent. ERR_UNSUPPORTED: the server is too old for that. */
int kube_exec_end_input(struct kube_exec *exec, struct err *err) MUST_USE;
/* The size of the terminal. Not before the first on_room. */
void kube_exec_resize(struct kube_exec *exec, int columns, int rows);
/* As websocket_pause; from the first output on. */
void kube_exec_pause(struct kube_exec *exec);
void kube_exec_resume(struct kube_exec *exec);

/* Events of a probe. Only for the files of check/probe*. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "check/server.h"

#include <stddef.h>

struct library;

/* One of
 *     {"muster": "devices", "task": "worker-0", "devices": ["CPU:0"], "seconds": 0.02}
 *     {"muster": "ran", "task": "worker-0", "devices": ["CPU:0"], "seconds": 0.01}
 *     {"muster": "error", "step": "devices" or "session", "code": "UNAVAILABLE", "message": …}
 * with "task" if the error is about a known task, and "server" if it is about a given server.
 * Messages are whole sentences. */
typedef void (*probe_fn)(const struct json *event, void *data);

struct probe_request {
	const struct check_server *servers; /* all of one cluster */
	size_t n_servers;
	msec timeout; /* for each answer, more than 0 */
	/* Opens the library; called once, after all that must precede TensorFlow's threads. */
	int (*open_library)(struct library **ret_library, void *data, struct err *err);
	/* Reports the current activity, before each call that may hang: "asking ps-1 for its
	 * devices". */
	void (*on_begin)(const char *doing, void *data);
	probe_fn tell;
	void *data; /* for all three functions */
};

enum probe_step { PROBE_DEVICES, PROBE_SESSION };

void probe_begin(const struct probe_request *request, const char *format, ...) PRINTF_LIKE(2, 3);
/* `kind` is "devices" or "ran". */
void probe_report_devices(const struct probe_request *request, const char *kind, const char *task,
			  const char *const *devices, size_t n_devices, double seconds);
/* `task` and `server` may be NULL. `code` is TensorFlow's error code as a word. */
void probe_report_error(const struct probe_request *request, enum probe_step step, const char *task,
			const char *server, const char *code, const char *message);

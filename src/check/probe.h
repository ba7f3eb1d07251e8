/* Tests TensorFlow servers from outside, as a client: which tasks their cluster has, which devices
 * each has, and whether an operation runs there. It creates and ends nothing.
 *
 * All tasks are asked through the first server that answers, as a training client would. A cluster
 * with a task that is not up answers nothing as a whole. Its tasks are then searched one by one, by
 * the job names that TensorFlow knows and those that the servers reported. */
#pragma once

#include "base/json.h"
#include "check/request.h"

struct library;

struct probe_request {
	const struct check_server *servers; /* all of one cluster */
	size_t n_servers;
	msec timeout; /* for each answer, more than 0 */
	/* Opens the library; called once, after all that must precede TensorFlow's threads. */
	int (*open_library)(struct library **ret_library, void *data, struct err *err);
	/* Reports the activity before each call that may hang: "asking ps-1 for its devices". */
	void (*on_begin)(const char *doing, void *data);
	/* Receives one of
	 *     {"muster": "devices", "task": "worker-0", "devices": ["CPU:0"], "seconds": 0.02}
	 *     {"muster": "ran", "task": "worker-0", "devices": ["CPU:0"], "seconds": 0.01}
	 *     {"muster": "error", "step": "devices" or "session", "code": "UNAVAILABLE",
	 *      "message": …}
	 * with "task" if the error is about a known task, and "server" if it is about a given
	 * server. Messages are whole sentences. */
	void (*tell)(const struct json *event, void *data);
	void *data; /* for all three functions */
};

/* Reports the devices of all tasks, then the operations, then servers that did not answer; other
 * errors as they occur. Returns 0 on success; ERR_UNREACHABLE if an error was reported; other
 * errors come from opening the library. */
int probe_run(const struct probe_request *request, struct err *err) MUST_USE;

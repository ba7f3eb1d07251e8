/* A client's session with TensorFlow servers: which devices are there, and does an operation run.
 *
 * A session is opened at one server, its master, which asks the other tasks. By default it asks all
 * tasks of the cluster and waits, for ever, for those that are not up ("CreateSession still waiting
 * for response from worker"). So a session here may ask one task alone besides its master's, and
 * everything ends with the timeout.
 *
 * Sources: ConfigProto.device_filters, .operation_timeout_in_ms and RunOptions.timeout_in_ms of
 * tensorflow/core/protobuf/config.proto; tensorflow/c/c_api.h. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "tensorflow/device_name.h"

#include <stddef.h>

struct library;
struct session;

enum session_reach {
	SESSION_ALL, /* every task of the cluster */
	SESSION_MASTER, /* the master's own task only */
	SESSION_TASK, /* one task, besides the master's own */
};

struct session_target {
	const char *master; /* "grpc://host:2222" */
	enum session_reach reach;
	const char *job; /* of SESSION_TASK */
	int task;
	msec timeout; /* of each call, more than 0 */
};

/* ERR_UNSUPPORTED: the library lacks functions that sessions need; it names them. */
int session_check_library(const struct library *library, struct err *err) MUST_USE;

/* Prepares a session; nothing is sent yet. ERR_UNSUPPORTED as above; ERR_INVALID: no address of a
 * server. */
int session_open(const struct library *library, const struct session_target *target,
		 struct session **ret_session, struct err *err) MUST_USE;
/* The servers are told, unless the last call had no answer. NULL is fine. */
void session_close(struct session *session);
void session_cleanup(struct session **session);

struct session_device {
	char *full_name; /* "/job:ps/replica:0/task:1/device:CPU:0" */
	struct device_name name;
};
/* Devices of the tasks that the session reaches; those of the master's task are always among them.
 * Borrowed until the next call. ERR_UNREACHABLE: no answer within the timeout, or no way to a task;
 * ERR_REFUSED for what else the servers say. */
int session_list_devices(struct session *session, const struct session_device **ret_devices,
			 size_t *ret_count, struct err *err) MUST_USE;

/* Multiplies two small matrices on the device and compares the product. Errors as above; ERR_IO:
 * the product is wrong. */
int session_multiply(struct session *session, const char *device, struct err *err) MUST_USE;

/* TensorFlow's word for how the last call ended: "OK", "DEADLINE_EXCEEDED", "UNAVAILABLE". */
const char *session_code(const struct session *session);

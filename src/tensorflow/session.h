/* A client's session with TensorFlow servers: which devices exist, and whether an operation runs.
 *
 * A session is opened at one server, its master, which contacts the other tasks. By default it
 * contacts all tasks of the cluster and waits forever for those that are not up ("CreateSession
 * still waiting for response from worker"). So these sessions can be limited to one task in
 * addition to the master's, and every call has a timeout.
 *
 * Sources: ConfigProto.device_filters, .operation_timeout_in_ms and RunOptions.timeout_in_ms of
 * tensorflow/core/protobuf/config.proto; tensorflow/c/c_api.h. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"

struct library;
struct session;

enum session_reach {
	SESSION_ALL, /* every task of the cluster */
	SESSION_MASTER, /* the master's own task only */
	SESSION_TASK, /* one task, in addition to the master's own */
};

struct session_target {
	const char *master; /* "grpc://host:2222" */
	enum session_reach reach;
	const char *job; /* for SESSION_TASK */
	int task;
	msec timeout; /* of each call, more than 0 */
};

/* Returns ERR_UNSUPPORTED with the functions that the library lacks for sessions. */
int session_check_library(const struct library *library, struct err *err) MUST_USE;

/* Prepares a session without sending anything. Returns ERR_UNSUPPORTED as above; ERR_INVALID if
 * `master` is no server address. */
int session_open(const struct library *library, const struct session_target *target,
		 struct session **ret_session, struct err *err) MUST_USE;
/* Notifies the servers, unless the last call had no answer. NULL is fine. */
void session_close(struct session *session);
void session_cleanup(struct session **session);

/* The full name of a device, "/job:ps/replica:0/task:1/device:CPU:0", in parts. Source:
 * DeviceNameUtils (tensorflow/core/util/device_name_utils.h). */
#define DEVICE_NAME_SIZE 128

struct device_name {
	char job[DEVICE_NAME_SIZE]; /* "ps" */
	int task; /* 1 */
	char device[DEVICE_NAME_SIZE]; /* "CPU:0" */
	char kind[DEVICE_NAME_SIZE]; /* "CPU" */
};

/* Returns ERR_INVALID if the name has another form or a part is too long. */
int device_name_read(const char *text, struct device_name *ret_name, struct err *err) MUST_USE;

struct session_device {
	char *full_name; /* "/job:ps/replica:0/task:1/device:CPU:0" */
	struct device_name name;
};
/* Lists the devices of the tasks that the session reaches, always including the master's. Borrowed
 * until the next call. Returns ERR_UNREACHABLE if there is no answer within the timeout, or no
 * connection to a task; ERR_REFUSED for other errors of the servers. */
int session_list_devices(struct session *session, const struct session_device **ret_devices,
			 size_t *ret_count, struct err *err) MUST_USE;

/* Multiplies two small matrices on the device. Errors as above; ERR_IO: a wrong product. */
int session_multiply(struct session *session, const char *device, struct err *err) MUST_USE;

/* TensorFlow's code of the last call: "OK", "DEADLINE_EXCEEDED", "UNAVAILABLE". */
const char *session_code(const struct session *session);

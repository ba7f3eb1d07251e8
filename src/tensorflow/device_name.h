/* Parses the full name of a TensorFlow device: "/job:ps/replica:0/task:1/device:CPU:0".
 *
 * Source: DeviceNameUtils (tensorflow/core/util/device_name_utils.h). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#define DEVICE_NAME_SIZE 128

struct device_name {
	char job[DEVICE_NAME_SIZE]; /* "ps" */
	int task; /* 1 */
	char device[DEVICE_NAME_SIZE]; /* "CPU:0" */
	char kind[DEVICE_NAME_SIZE]; /* "CPU" */
};

/* Returns ERR_INVALID if the name has another form or a part is too long. */
int device_name_read(const char *text, struct device_name *ret_name, struct err *err) MUST_USE;

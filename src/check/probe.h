/* Tests TensorFlow servers from outside, as a client: which tasks their cluster has, which devices
 * each has, and whether an operation runs there. It creates and ends nothing.
 *
 * All tasks are asked through the first server that answers, as a training client would. A cluster
 * with a task that is not up answers nothing as a whole. Its tasks are then searched one by one, by
 * the job names that TensorFlow knows and those that the servers reported. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "check/probe_event.h"

/* Reports the devices of all tasks, then the operations, then servers that did not answer; other
 * errors as they occur. Returns 0 on success; ERR_UNREACHABLE if an error was reported; other
 * errors come from opening the library. */
int probe_run(const struct probe_request *request, struct err *err) MUST_USE;

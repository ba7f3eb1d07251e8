/* Tries TensorFlow servers from outside, as a client: which tasks does their cluster have, which
 * devices has each, and does an operation run there. Makes nothing and ends nothing.
 *
 * All tasks are asked through the first server that answers, as a training client would. A cluster
 * with a task that is not up tells nothing as a whole, so its tasks are then looked for one by one,
 * by the names of jobs that TensorFlow knows and those that the servers told. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "check/probe_event.h"

/* Tells the devices of all tasks, then what ran, then of servers that did not answer, but errors as
 * they come up. 0 when all went well; ERR_UNREACHABLE when something was told as an error; other
 * errors are those of opening the library. */
int probe_run(const struct probe_request *request, struct err *err) MUST_USE;

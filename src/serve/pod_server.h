/* The server in a Pod of ElasticDL's launcher for TensorFlow: it waits to be told who the Pod is,
 * runs the training when it is asked to, and ends as that ends.
 *
 *     POST /config   spec/pod_config.h; again until the training runs
 *     GET /run       starts it, once
 *     GET /status    {"state": "Waiting" | "Configured" | "Running" | "Ended", "master", "setId"}
 *     POST /stop     ends it as SIGTERM to this process does
 *     GET /healthz   for any caller
 *
 * No word of a request becomes part of a command. The training has the environment of this process,
 * but for the secret, with NUM_WORKERS and TF_CONFIG. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "http/listening.h"

#define POD_SERVER_PORT 7896
#define POD_SERVER_LOG "outputs.log"

struct pod_server_settings {
	const struct listening *listening; /* borrowed */
	const char *secret; /* what callers have to give; NULL: nothing */
	const char *const *command; /* ends with NULL; NULL: `python exec.py`, or python3's */
	msec grace; /* between SIGTERM and SIGKILL */
	void (*say)(const char *sentence);
};

/* Serves until the training has ended and all that it printed is written, to stdout and to the file
 * POD_SERVER_LOG; gives its exit code (128 + n: signal n), or 128 + SIGTERM where it was told to
 * end before. No process that it started is left. */
int pod_server_run(const struct pod_server_settings *settings, int *ret_exit_code,
		   struct err *err) MUST_USE;

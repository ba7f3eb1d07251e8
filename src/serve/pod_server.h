/* The server in a Pod of ElasticDL's launcher for TensorFlow: it waits for the Pod's role, runs the
 * training on request, and exits when the training has exited.
 *
 *     POST /config   spec/elasticdl.h; again until the training runs
 *     GET /run       starts it, once
 *     GET /status    {"state": "Waiting" | "Configured" | "Running" | "Ended", "master", "setId"}
 *     POST /stop     stops it as SIGTERM to this process does
 *     GET /healthz   for any client
 *
 * No text of a request becomes part of a command. The training has the environment of this process,
 * except the secret, with NUM_WORKERS and TF_CONFIG. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "http/listening.h"

#define POD_SERVER_PORT 7896
#define POD_SERVER_LOG "outputs.log"

struct pod_server_settings {
	const struct listening *listening; /* borrowed */
	const char *secret; /* that clients have to send; NULL: none needed */
	const char *const *command; /* ends with NULL; NULL: `python exec.py`, or python3's */
	msec grace; /* between SIGTERM and SIGKILL */
	void (*say)(const char *sentence, void *data); /* `data` is NULL */
};

/* Serves until the training has exited and all its output is written, to stdout and to the file
 * POD_SERVER_LOG. Returns its exit code (128 + n: signal n), or 128 + SIGTERM if it was asked to
 * stop before. No process that it started is left. */
int pod_server_run(const struct pod_server_settings *settings, int *ret_exit_code,
		   struct err *err) MUST_USE;

/* Requests of clients of ElasticDL's launcher for TensorFlow to its master, and the TFJob of such a
 * request. Pure.
 *
 *     GET /create?strategy=AllReduce|ParameterServer&n_worker=4&n_ps=0&img=IMAGE&name=TASK
 *
 * A client of muster adds server=muster: its image has no server for Pods, so one is copied in.
 * Objects have the names, labels and ports of the old master: Pods are TASK-worker-INDEX and
 * TASK-ps-INDEX, with the labels `type` and `app`; servers in Pods listen on 7896, TensorFlow on
 * 1234. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

#define ELASTICDL_POD_SERVER_PORT 7896
#define ELASTICDL_TENSORFLOW_PORT 1234
#define ELASTICDL_SECRET_KEY "secret" /* key in the Secret of a job */

enum elasticdl_strategy {
	ELASTICDL_ALL_REDUCE,
	ELASTICDL_PARAMETER_SERVER,
	ELASTICDL_STRATEGY_COUNT,
};
extern const char *const elasticdl_strategy_words[ELASTICDL_STRATEGY_COUNT];

struct elasticdl_parameter {
	const char *name, *value;
};

struct elasticdl_request {
	enum elasticdl_strategy strategy;
	int workers, ps;
	const char *image, *task; /* borrowed from the parameters */
	bool needs_server;
};

/* ERR_INVALID says in one sentence what was expected: a parameter is missing, invalid, unknown or
 * given twice. */
int elasticdl_read(const struct elasticdl_parameter *parameters, size_t count,
		   struct elasticdl_request *ret_request, struct err *err) MUST_USE;

/* The master's settings for its jobs. Texts are borrowed. */
struct elasticdl_manner {
	const char *program_image; /* image with the server for Pods, at program_path */
	const char *program_path;
	const char *secret_name; /* the Secret of the job */
	const struct json *template; /* a Pod template with defaults for those of jobs; NULL:
					none */
};

/* The TFJob. Caller frees. */
struct json *elasticdl_document_new(const struct elasticdl_request *request,
				    const struct elasticdl_manner *manner) MUST_USE;

/* The name of the Secret that the Pods of a job read; NULL: none, as for Pods of old images.
 * Borrowed. */
const char *elasticdl_secret_of(const struct job *job);

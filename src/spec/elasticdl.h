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

/* ERR_INVALID says what was expected: a parameter is missing, invalid, unknown or given twice. */
int elasticdl_read(const struct elasticdl_parameter *parameters, size_t count,
		   struct elasticdl_request *ret_request, struct err *err) MUST_USE;

/* The master's settings for its jobs. Texts are borrowed. */
struct elasticdl_manner {
	const char *program_image; /* image with the server for Pods, at program_path */
	const char *program_path;
	const char *secret_name; /* the Secret of the job */
	const struct json *template; /* a Pod template with defaults for jobs; NULL: none */
};

/* The TFJob. Caller frees. */
struct json *elasticdl_document_new(const struct elasticdl_request *request,
				    const struct elasticdl_manner *manner) MUST_USE;

/* The name of the Secret that a job's Pods read, borrowed; NULL: none, as of old images. */
const char *elasticdl_secret_of(const struct job *job);

/* The header with the secret that a master and the Pods of a job share. Authorization cannot be
 * used: the API server keeps it when it forwards a request (pods/proxy). */
#define POD_SECRET_HEADER "Muster-Secret"
#define POD_SECRET_VARIABLE "MUSTER_POD_SECRET" /* for the server in a Pod */

/* The role of a Pod, as the master of ElasticDL's launcher for TensorFlow sends it in the body of
 * POST /config: {"MASTER": …, "SET_ID": …, "NUM_WORKERS": …, "TF_CONFIG": {…}}. */
struct pod_config {
	char *master, *set_id; /* as the master names them; NULL: not given */
	char *num_workers; /* for NUM_WORKERS: "4" */
	char *tf_config; /* for TF_CONFIG: JSON on one line */
};
void pod_config_done(struct pod_config *config);

/* NUM_WORKERS is a number or a text with one, TF_CONFIG an object or the text of one; the others
 * are optional, and unknown members are ignored. Each may be given once. ERR_INVALID, or ERR_LIMIT
 * if a value is too long for a program, with one sentence. */
int pod_config_read(const char *body, size_t len, struct pod_config *ret_config,
		    struct err *err) MUST_USE;

/* The HTTP side of `muster serve`: creates, reads and deletes jobs of ElasticDL's launcher for
 * TensorFlow. The operator in the same process manages them. This module keeps no state, so that a
 * restarted master continues with what the cluster shows.
 *
 *     GET /create?…       spec/elasticdl.h: 200 "OK", 400, 409 (the name is taken), 429 or 500
 *                         with a sentence
 *     GET /jobs           {"jobs": [{"name", "state", "created"}]}
 *     GET /jobs/NAME      the TFJob with its status; status.waiting of a job that is waiting is the
 *                         reason, as {"reason", "message"}
 *     GET /jobs/NAME/log  its output, as it comes (serve/job_log.h)
 *     DELETE /jobs/NAME   and all that it owns
 *     GET /metrics        of the operator
 *     GET /healthz        for any client, and
 *     GET /readyz         503 until all jobs are known and this process is the leader */
#pragma once

#include "base/json.h"
#include "http/listening.h"
#include "http/refusal.h"
#include "operator/operator.h"

struct master;

struct master_settings {
	struct operator_host host;
	const struct listening *listening;
	const struct http_tls *tls; /* NULL: none */
	const char *namespace_name; /* of its jobs */
	struct http_access access; /* the token of the clients */
	const char *program_image, *program_path; /* as in spec/elasticdl.h */
	const struct json *template; /* the same; NULL: none */
};

/* All that the settings point to must outlive the master. */
int master_new(const struct master_settings *settings, struct master **ret_master,
	       struct err *err) MUST_USE;
void master_free(struct master *master); /* NULL is fine; call it before freeing its API */

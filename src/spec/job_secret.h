/* Variables of a command line, which may be tokens and passwords, in a Secret of Kubernetes.
 *
 * The job's document, which every user who may read jobs can read, has the name of the Secret and
 * the names of the variables. Their values are only in the Secret (kube/objects.h makes it). */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"

#include <stddef.h>

/* Zero it to begin. */
struct job_secret {
	char *name; /* NULL: there is none */
	struct json *values; /* an object: the literal value of each variable */
};

/* JOB.env: no job's name has a dot. Caller frees. */
char *job_secret_name(const char *job_name) MUST_USE;

/* Whether a container of the job reads a variable from that Secret. */
bool job_secret_is_named(const struct job *job);

/* Of two variables of one name the later one is used. */
void job_secret_init(struct job_secret *secret, const char *name, const struct env_entry *env,
		     size_t n_env);
void job_secret_done(struct job_secret *secret);

/* Adds these variables to the training container of each role of a document, after its own. Other
 * variables may refer to them, $(TOKEN); their own values are not expanded. Does nothing when there
 * is no Secret. */
void job_document_add_secret(struct json *document, const struct job_secret *secret);

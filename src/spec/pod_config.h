/* The role of a Pod, as the master of ElasticDL's launcher for TensorFlow sends it in the body of
 * POST /config: {"MASTER": …, "SET_ID": …, "NUM_WORKERS": …, "TF_CONFIG": {…}}. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>

/* The kernel's limit for a variable of a program (MAX_ARG_STRLEN, execve(2)), with its name. */
#define POD_CONFIG_VARIABLE_LIMIT 131072

/* The header with the secret that a master and the Pods of a job share. Authorization cannot be
 * used: the API server keeps it when it forwards a request (pods/proxy). */
#define POD_SECRET_HEADER "Muster-Secret"
#define POD_SECRET_VARIABLE "MUSTER_POD_SECRET" /* for the server in a Pod */

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

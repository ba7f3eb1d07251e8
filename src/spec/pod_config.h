/* What the master of ElasticDL's launcher for TensorFlow tells a Pod: who it is. The body of its
 * POST /config, {"MASTER": …, "SET_ID": …, "NUM_WORKERS": …, "TF_CONFIG": {…}}. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>

/* The kernel's longest variable of a program (MAX_ARG_STRLEN, execve(2)), with its name. */
#define POD_CONFIG_VARIABLE_LIMIT 131072

/* The header of the secret that a master and the Pods of a job share, where Authorization is for a
 * server on the way: that of Kubernetes keeps it for itself (pods/proxy). */
#define POD_SECRET_HEADER "Muster-Secret"
#define POD_SECRET_VARIABLE "MUSTER_POD_SECRET" /* by which the server in a Pod gets it */

struct pod_config {
	char *master, *set_id; /* as it names them; NULL: it does not */
	char *num_workers; /* for NUM_WORKERS: "4" */
	char *tf_config; /* for TF_CONFIG: JSON on one line */
};
void pod_config_done(struct pod_config *config);

/* NUM_WORKERS is a number or a text of one, TF_CONFIG an object or the text of one; others may be
 * left out, and what is not named here is passed over. Each may be given once. ERR_INVALID, or
 * ERR_LIMIT where no program could be given it, with one sentence. */
int pod_config_read(const char *body, size_t len, struct pod_config *ret_config,
		    struct err *err) MUST_USE;

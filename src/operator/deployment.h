/* The objects that the operator is installed with: those of deploy/, which the program contains. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"

#include <stddef.h>

extern const char deployment_yaml[]; /* deploy/crd.yaml and deploy/operator.yaml */
extern const size_t deployment_yaml_size;

/* The options. Borrowed. */
struct deployment_choice {
	const char *image; /* NULL: as in the file */
	/* The namespaces to manage, with permissions only there: a Role replaces the ClusterRole.
	 * Ends with NULL; empty: all. */
	const char *const *namespaces;
};

/* On all objects except the definition of TFJobs. */
#define DEPLOYMENT_NAME "muster-operator"
#define DEPLOYMENT_SELECTOR "app.kubernetes.io/name=" DEPLOYMENT_NAME

/* A list, in order of creation. Caller frees. */
int deployment_objects(const struct deployment_choice *choice, struct json **ret_list,
		       struct err *err) MUST_USE;

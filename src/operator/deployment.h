/* What the operator is installed with: the objects of deploy/, which the program carries inside. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"

#include <stddef.h>

extern const char deployment_yaml[]; /* deploy/crd.yaml and deploy/operator.yaml */
extern const size_t deployment_yaml_size;

/* What is chosen of it. Borrowed. */
struct deployment_choice {
	const char *image; /* NULL: as the file has it */
	/* Which are served, with rights in these alone, a Role in the place of the ClusterRole;
	 * ends with NULL, and is empty where all are. */
	const char *const *namespaces;
};

/* Of all objects but the definition of TFJobs. */
#define DEPLOYMENT_NAME "muster-operator"
#define DEPLOYMENT_SELECTOR "app.kubernetes.io/name=" DEPLOYMENT_NAME

/* A list, in the order in which they are made. Caller frees. */
int deployment_objects(const struct deployment_choice *choice, struct json **ret_list,
		       struct err *err) MUST_USE;

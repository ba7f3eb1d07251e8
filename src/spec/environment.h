/* The environment of one process: a set of "NAME=VALUE", and Kubernetes' $(NAME) expansion. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "spec/job.h"

#include <stddef.h>

/* Zero it to begin. Each name occurs once; `entries` ends with NULL once a variable was added, so
 * that it can be passed to exec. */
struct environment {
	char **entries; /* "NAME=VALUE" */
	size_t count;
	size_t capacity;
};

void environment_done(struct environment *environment);
/* Sets or replaces a variable. */
void environment_set(struct environment *environment, const char *name, const char *value);
/* NULL when there is none of that name. */
const char *environment_get(const struct environment *environment, const char *name);

/* Kubernetes' $(NAME) expansion (k8s.io/kubernetes/third_party/forked/golang/expansion): $$ is a
 * dollar, an unknown name stays unchanged. `environment` contains the variables of a Pod's
 * container: the job's own and not inherited ones, so that a file has the same meaning on this
 * machine and on a cluster. Caller frees. */
char *environment_expand(const struct environment *environment, const char *text) MUST_USE;
/* Adds a text so that the expansion returns it unchanged: each `$` that would start an expression
 * is doubled. */
void environment_add_literal(struct text *text, const char *string);
/* Adds a container's env in its order: each value is expanded with the variables before it. */
void environment_add_container(struct environment *environment, const struct container *container);

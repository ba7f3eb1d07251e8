/* The variables of one process: a set of "NAME=VALUE", and Kubernetes' $(NAME) expansion. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "spec/job.h"

#include <stddef.h>

/* Zero it to begin. Each name is there once; `entries` ends with NULL as soon as anything was
 * added, so that it can be handed to exec. */
struct environment {
	char **entries; /* "NAME=VALUE" */
	size_t count;
	size_t capacity;
};

void environment_done(struct environment *environment);
/* Sets or replaces. */
void environment_set(struct environment *environment, const char *name, const char *value);
/* NULL when there is none of that name. */
const char *environment_get(const struct environment *environment, const char *name);

/* Kubernetes' $(NAME) expansion (k8s.io/kubernetes/third_party/forked/golang/expansion): $$ is a
 * dollar, an unknown name stays as it is written. `environment` holds what a Pod's container would
 * have: the job's own variables and not the inherited ones, so that the same file means the same
 * here and there. Caller frees. */
char *environment_expand(const struct environment *environment, const char *text) MUST_USE;
/* Adds a text so that the expansion gives it back as it is: each `$` that would begin an expression
 * is doubled. */
void environment_add_literal(struct text *text, const char *string);
/* A container's env in its order: each value expanded with what stands before it, then set. */
void environment_add_container(struct environment *environment, const struct container *container);

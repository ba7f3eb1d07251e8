/* Pod templates as JSON: the training container, additions, and merging of two templates. */
#pragma once

#include "base/json.h"
#include "base/own.h"

/* The training container of a template: the first one named `tensorflow`, else the first; NULL if
 * there is none. Borrowed. */
struct json *pod_template_container(const struct json *template);

/* The element of a list of objects whose member `key` is this text; NULL if there is none. */
struct json *pod_template_find(const struct json *list, const char *key, const char *text);

/* Adds {"name": NAME}, borrowed, to a list of a Pod or a container, which is created if absent. */
struct json *pod_template_add(struct json *object, const char *list, const char *name);
/* Mounts a volume of the Pod in a container. */
void pod_template_add_mount(struct json *container, const char *volume, const char *path,
			    bool is_read_only);
/* Adds a variable with the value of a key of a Secret to a container. */
void pod_template_add_secret(struct json *container, const char *variable, const char *secret,
			     const char *key);

/* A merge of two templates: values of `over` override those of `under`, all others stay. Objects
 * are merged member by member; a null deletes a member. Lists whose elements Kubernetes identifies
 * by a key (the strategic merge keys of k8s.io/api/core/v1/types.go) are merged element by element,
 * and elements only in `over` come last: containers and initContainers by name and member by
 * member; volumes, env and imagePullSecrets by name, ports by containerPort, volumeMounts by
 * mountPath, each element whole. Any other list is taken whole (command, args, tolerations). If
 * `over` sets the command of the training container, the args of `under` are dropped, because they
 * belong to another command.
 *
 * The training containers are merged with each other whatever the name in `under` is; the result
 * has the name in `over`. Caller frees; neither argument changes. */
struct json *pod_template_laid_over(const struct json *under, const struct json *over) MUST_USE;

/* Pod templates as JSON: which container trains, and how one template is laid over another. */
#pragma once

#include "base/json.h"
#include "base/own.h"

/* The container of a template that trains: the first one named `tensorflow`, else the first; NULL
 * where there is none. Borrowed. */
struct json *pod_template_container(const struct json *template);

/* The element of a list of objects whose member `key` is this text; NULL where there is none. */
struct json *pod_template_find(const struct json *list, const char *key, const char *text);

/* One template laid over another, which lies under it. What `over` says wins; what it is silent
 * about stays as in the other. Objects are merged member by member, a null takes a member away.
 * Lists whose elements Kubernetes tells apart (the strategic merge keys of
 * k8s.io/api/core/v1/types.go) are merged element by element, and what only `over` has stands
 * behind the others: containers and initContainers by name and member by member; volumes, env and
 * imagePullSecrets by name, ports by containerPort, volumeMounts by mountPath, each element whole.
 * Any other list is taken whole (command, args, tolerations).
 *
 * Where `over` says the command of the container that trains, the args of the other are left
 * out: they are those of another command.
 *
 * The containers that train are merged with each other whatever the one below is called; it
 * gets the name of the other. Caller frees; neither argument changes. */
struct json *pod_template_laid_over(const struct json *under, const struct json *over) MUST_USE;

/* What creating and deleting a training of TF-Spawner share: its kinds of objects, and the
 * connection to the cluster. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "io/loop.h"
#include "kube/api.h"

/* In TF-Spawner's order of deletion. */
enum spawner_kind_id { SPAWNER_SERVICE, SPAWNER_CONFIG_MAP, SPAWNER_POD, SPAWNER_COUNT };

struct spawner_kind {
	const char *spoken;
	const struct kube_resource *resource;
};
extern const struct spawner_kind spawner_kinds[SPAWNER_COUNT];

/* NULL for any other kind. */
const struct spawner_kind *spawner_kind_of(const struct json *object);

struct spawner_session {
	struct loop *loop;
	struct kube_api *api;
	char *selector; /* "training_attempt=TAG" */
};

/* `old` are the options that select the cluster. Returns the errors of kube_cluster_read_config and
 * of its login; close the session even after an error. */
int spawner_session_open(const struct options *old, const char *tag,
			 struct spawner_session *session, struct err *err) MUST_USE;
void spawner_session_close(struct spawner_session *session);

/* The request that deletes one object, with a body of kube_delete_options_new. */
struct kube_request spawner_deletion(const struct spawner_kind *kind, const char *name,
				     struct json *body);
/* Prints TF-Spawner's message, and flushes it. */
void spawner_print_removing(const struct spawner_kind *kind, const char *name);

/* The two functions of tf_spawner_cluster. */
int spawner_create(const struct options *old, const char *tag, const struct json *objects);
int spawner_remove(const struct options *old, const char *tag);

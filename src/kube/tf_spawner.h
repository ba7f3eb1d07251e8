/* The objects that TF-Spawner created: a ConfigMap `script`, and worker0, worker1 … as Services and
 * Pods.
 *
 * Source: https://github.com/cerndb/tf-spawner, with its names, labels and variables. They have no
 * owner: its users delete them by their label. */
#pragma once

#include "base/json.h"
#include "spec/job.h"

#define TF_SPAWNER_LABEL "training_attempt"
#define TF_SPAWNER_SCRIPT "script" /* the ConfigMap */

struct tf_spawner {
	int n_workers; /* 1 or more */
	int port;
	const char *tag; /* value of the label */
	const char *image;
	const char *name_space; /* NULL: omitted */
	const char *script; /* the text of the training script */
	const char *command; /* text of a shell script that runs it; NULL: the Pod's own command */
	const struct env_entry *env; /* in addition to TF_CONFIG, WORKER_NUMBER and TOT_WORKERS */
	size_t n_env;
	const struct json *pod; /* templates; NULL: TF-Spawner's own */
	const struct json *service;
};

/* All objects in their order of creation. Pods come last, so that the names of their peers already
 * exist.
 *
 * The first container of the template gets the image and the variables, which replace its own. With
 * a command, bash runs it and stops at the first failing line. Returns ERR_INVALID with what the
 * template lacks. Caller frees. */
int tf_spawner_objects_new(const struct tf_spawner *wanted, struct json **ret_list,
			   struct err *err) MUST_USE;

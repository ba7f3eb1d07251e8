/* The objects that TF-Spawner made: a ConfigMap `script`, and worker0, worker1 … as Services and
 * Pods.
 *
 * Source: https://github.com/cerndb/tf-spawner, with its names, labels and variables. They have no
 * owner: its users delete them by their label. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "spec/job.h"

#include <stddef.h>

#define TF_SPAWNER_LABEL "training_attempt"
#define TF_SPAWNER_SCRIPT "script" /* the ConfigMap */

struct tf_spawner {
	int n_workers; /* 1 or more */
	int port;
	const char *tag; /* value of the label */
	const char *image;
	const char *name_space; /* NULL: none is written */
	const char *script; /* the text of the training script */
	const char
		*command; /* the text of a shell script that runs it; NULL: the Pod's own command */
	const struct env_entry *env; /* beside TF_CONFIG, WORKER_NUMBER and TOT_WORKERS */
	size_t n_env;
	const struct json *pod; /* templates; NULL: those that came with TF-Spawner */
	const struct json *service;
};

/* All objects, in the order in which they are made: Pods come last, so that the names of their
 * peers are there when they begin.
 *
 * The first container of the template gets the image and the variables, which replace its own; with
 * a command, bash runs that, ending at the first line that fails. ERR_INVALID names what a template
 * lacks. Caller frees. */
int tf_spawner_objects_new(const struct tf_spawner *wanted, struct json **ret_list,
			   struct err *err) MUST_USE;

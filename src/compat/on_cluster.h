/* What old programs do with a cluster or a master, and not by a command of muster. Only
 * muster-kubernetes has it; `muster` runs muster-kubernetes instead, and has NULL. */
#pragma once

#include "base/json.h"
#include "command/options.h"

#include <stdbool.h>

/* A request of ElasticDL's client to its master. */
struct elasticdl_call {
	const char *master; /* "http://192.168.64.5:31898", without a path */
	const char *path; /* "/create?…" */
	const char *task;
	const char *token; /* NULL: none */
	bool is_own_token; /* of this user; without TLS it is not sent to another machine */
	const char *pin; /* of the master's key, as in http/request.h; NULL: an authority vouches
			    for it */
	bool is_detached; /* print the job's name and do not follow the job */
};

/* Creates the job. Unless detached, it follows the job and its output to the end, and reports what
 * it sees. Returns the exit code: the job's; 2 if the master rejects the request, 4 if it rejects
 * the client, 3 if it cannot be reached, 125 for internal errors. */
extern int (*const elasticdl_call)(const struct elasticdl_call *call);

/* The operations of tf-spawner. `old` are the options of the old command line, which select the
 * cluster and the namespace. Both functions return the exit code. */
struct tf_spawner_cluster {
	/* Creates the objects of kube/tf_spawner.h, unless some with this tag exist. If one cannot
	 * be created, the others are deleted. */
	int (*create)(const struct options *old, const char *tag, const struct json *objects);
	/* Asks first, deletes all objects with the label, and waits until they are gone. */
	int (*remove)(const struct options *old, const char *tag);
};
extern const struct tf_spawner_cluster *const tf_spawner_cluster;

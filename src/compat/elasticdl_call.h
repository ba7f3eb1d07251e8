/* The requests of ElasticDL's client to its master. Only muster-kubernetes has the HTTP client for
 * them; `muster` runs muster-kubernetes instead. */
#pragma once

#include <stdbool.h>

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
 * the client, 3 if it cannot be reached, 125 for internal errors. NULL in `muster`. */
extern int (*const elasticdl_call)(const struct elasticdl_call *call);

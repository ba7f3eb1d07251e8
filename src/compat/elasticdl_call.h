/* What ElasticDL's client does with its master. Only muster-kubernetes can, which has an HTTP
 * client; `muster` hands over to it before it comes to that. */
#pragma once

#include <stdbool.h>

struct elasticdl_call {
	const char *master; /* "http://192.168.64.5:31898", without a path */
	const char *path; /* "/create?…" */
	const char *task;
	const char *token; /* NULL: none */
	const char *pin; /* of its key, as of http/trust.h; NULL: an authority vouches for it */
	bool is_detached; /* the job's name is printed, and the job is not followed */
};

/* Creates the job, and follows it and its output to its end unless it is detached; tells what it
 * sees, and gives the exit code: the job's; 2 where the master refuses the request for what it is,
 * 4 where it refuses the client, 3 where it cannot be reached, 125. NULL in `muster`. */
extern int (*const elasticdl_call)(const struct elasticdl_call *call);

/* One end of a copy as a command line names it: a path of this machine, or one in a container of a
 * job. Pure. */
#pragma once

#include "base/own.h"
#include "spec/fetch.h"

#include <stdbool.h>

/* Zero it to begin. */
struct copy_place {
	char *namespace_name; /* of kubernetes/NAMESPACE/NAME; NULL: not given */
	char *job; /* its name; NULL: the path is one of this machine */
	bool is_here; /* local/NAME: a local job */
	char *role;
	int index;
	char *path;
};

/* Reads "JOB:ROLE-INDEX:PATH", with JOB as other commands take it. Any other text is a path of this
 * machine, also every text that begins with '/' or '.'. */
void copy_place_read(const char *text, struct copy_place *ret_place);
/* The directory of a job on a cluster that its --fetch names. */
void copy_place_of_fetch(const char *namespace_name, const char *job, const struct fetch *fetch,
			 struct copy_place *ret_place);
void copy_place_done(struct copy_place *place);

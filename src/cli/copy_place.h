/* One end of a copy as it is written: a path here, or one in a container of a job. Pure. */
#pragma once

#include "base/own.h"
#include "spec/fetch.h"

#include <stdbool.h>

/* Zero it to begin. */
struct copy_place {
	char *namespace_name; /* of kubernetes/NAMESPACE/NAME; NULL: not said */
	char *job; /* its name; NULL: the path is one of this machine */
	bool is_here; /* local/NAME: a job of this machine */
	char *role;
	int index;
	char *path;
};

/* Reads "JOB:ROLE-INDEX:PATH", with JOB as other commands take it; any other text is a path here,
 * as is everything that begins with '/' or '.'. */
void copy_place_read(const char *text, struct copy_place *ret_place);
/* The folder of a job on a cluster that its --fetch names. */
void copy_place_of_fetch(const char *namespace_name, const char *job, const struct fetch *fetch,
			 struct copy_place *ret_place);
void copy_place_done(struct copy_place *place);

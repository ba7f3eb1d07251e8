/* How a check starts its jobs: the arguments of `muster run`. */
#pragma once

#include "core/check_facts.h"

struct check_programs {
	const char *muster; /* this program */
	const char *model; /* the models' Python archive; NULL while no job needs it */
};

/* The NULL-terminated argument list of the foreground `muster run` of a job, in the arena. Servers
 * that are to stay after the check are run in the background. */
char **check_command(const struct check *check, enum check_job job,
		     const struct check_programs *programs, struct arena *arena);

/* How a check starts its jobs: the arguments of `muster run`. */
#pragma once

#include "base/text.h"
#include "check/facts.h"

struct check_programs {
	const char *muster; /* this program */
	const char *model; /* the models' Python archive; NULL while no job needs it */
};

/* The NULL-terminated argument list of the foreground `muster run` of a job, in the arena. Servers
 * that are to stay after the check are run in the background. */
char **check_command(const struct check *check, enum check_job job,
		     const struct check_programs *programs, struct arena *arena);

/* Of a job that runs in the background: `muster logs` that follows it in the form of a foreground
 * run, and `muster stop`. */
char **check_command_follow(const struct check *check, enum check_job job,
			    const struct check_programs *programs, struct arena *arena);
char **check_command_stop(const struct check *check, enum check_job job,
			  const struct check_programs *programs, struct arena *arena);

/* Adds what a person would type to end the servers that stay, and to try them: "muster stop …",
 * "muster check remote …". */
void check_command_describe_stop(const struct check *check, struct text *text);
void check_command_describe_try(const struct check *check, struct text *text);

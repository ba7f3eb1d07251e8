/* The command lines of a check's jobs: the arguments of `muster run`. */
#pragma once

#include "base/text.h"
#include "check/facts.h"

struct check_programs {
	const char *muster; /* this program */
	const char *model; /* the models' Python archive; NULL until a job needs it */
};

/* The NULL-terminated argument list of a job's foreground `muster run`, in the arena. Servers that
 * stay after the check run in the background. */
char **check_command(const struct check *check, enum check_job job,
		     const struct check_programs *programs, struct arena *arena);

/* For a job in the background: `muster logs`, which follows it in the form of a foreground run, and
 * `muster stop`. */
char **check_command_follow(const struct check *check, enum check_job job,
			    const struct check_programs *programs, struct arena *arena);
char **check_command_stop(const struct check *check, enum check_job job,
			  const struct check_programs *programs, struct arena *arena);

/* Appends the commands for the user to stop the remaining servers, and to test them: "muster stop
 * …", "muster check remote …". */
void check_command_describe_stop(const struct check *check, struct text *text);
void check_command_describe_try(const struct check *check, struct text *text);

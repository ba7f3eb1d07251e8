/* What an old command line has become: the words of a call of muster, built one after the other. */
#pragma once

#include "base/own.h"

#include <stddef.h>

struct options;
struct text;

/* Zero it to begin. The first word is the command's name. */
struct call {
	char **words; /* NULL-terminated as soon as there is one */
	size_t count;
	size_t capacity;
};

void call_done(struct call *call);
void call_add(struct call *call, const char *word);
/* An option and its value; nothing where the value is NULL. */
void call_add_value(struct call *call, const char *option, const char *value);
/* The option alone, where `flag` of an old command line is given. */
void call_add_flag(struct call *call, const char *option, const struct options *old,
		   const char *flag);

/* Adds the command line, quoted so that a shell reads the same words. */
void call_describe(const struct call *call, struct text *text);

/* Says on stderr what the old command line is now, and runs it; gives its exit code. With --dry-run
 * on the old command line the new one is printed on stdout, and nothing is run. */
int call_run(struct call *call, const struct options *old);

/* The old command line itself, by the program that speaks to clusters (cli/kubernetes_program.h).
 * Comes back only when that fails: why is told then, and the exit code given. */
int call_other_program(const struct options *old);

/* The row of --dry-run, which every old program has beside its own options. */
#define CALL_ROWS                                                                                  \
	{                                                                                          \
		.name = "dry-run", .kind = OPTION_FLAG,                                            \
		.one_line = "print the equivalent muster command, and run nothing"                 \
	}

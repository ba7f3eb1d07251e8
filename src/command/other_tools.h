/* Options and commands of kubectl, docker, docker compose, Slurm, mpirun and torchrun, and muster's
 * counterparts: a user who types another tool's word gets the right word, instead of an unclear
 * error or another effect. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct other_tool_option {
	/* "run|render": the commands that it applies to; NULL: all */
	const char *commands;
	const char *words; /* "-np|--nnodes", as typed; "": a plain argument */
	const char *answer; /* the text after "no such option; " */
	bool takes_value;
	/* A letter of our own whose meaning differs if its value is a whole number: -n 4. */
	bool is_number;
};

/* Whether the words, separated by '|', have this one: the first `len` characters of `word`, in
 * which
 * '_' counts as '-'. */
bool other_tool_has_word(const char *words, const char *word, size_t len);

/* The entry for `word` (its first `len` characters), an option that `command` does not have.
 * NULL: unknown. */
const struct other_tool_option *other_tool_option_find(const char *command, const char *word,
						       size_t len);
/* The same for a letter of our own, "-n", with this value; NULL: it has our meaning. */
const struct other_tool_option *other_tool_number_find(const char *command, const char *letter,
						       const char *value);
/* The answer to a surplus plain argument of the command; NULL: none. */
const char *other_tool_argument_answer(const char *command);

/* Our command line for another tool's command, without "muster": "delete" for rm, "run -f job.yaml"
 * for job.yaml. Caller frees; NULL: unknown. */
char *other_tool_command_meant(const char *word);

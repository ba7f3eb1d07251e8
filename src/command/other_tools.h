/* Words of kubectl, docker, docker compose, Slurm, mpirun and torchrun, and what muster has
 * instead: a habit of the hand is answered with the right word, instead of a riddle or something
 * else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct other_tool_option {
	/* "run|render": the commands of which it is asked; NULL: all */
	const char *commands;
	const char *words; /* "-np|--nnodes", as they are written; "": a plain argument */
	const char *answer; /* what stands behind "no such option; " */
	bool takes_value;
	/* An own letter that is meant otherwise where its value is a whole number: -n 4. */
	bool is_number;
};

/* What `word` (its first `len` characters), an option that `command` does not have, means
 * elsewhere; '_' counts as '-'. NULL: not known. */
const struct other_tool_option *other_tool_option_find(const char *command, const char *word,
						       size_t len);
/* The same of an own letter, "-n", that is given this value; NULL: it means what it says. */
const struct other_tool_option *other_tool_number_find(const char *command, const char *letter,
						       const char *value);
/* What is said of a plain argument for which the command has no place; NULL: nothing. */
const char *other_tool_argument_answer(const char *command);

/* The command line of ours for a word in the place of a command, without "muster": "delete" for rm,
 * "run -f job.yaml" for job.yaml. Caller frees; NULL: not known. */
char *other_tool_command_meant(const char *word);

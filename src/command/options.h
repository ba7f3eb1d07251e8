/* Options of commands: a table of rows in, checked values out. Command line > environment
 * (MUSTER_*) > default.
 *
 * Syntax: --name VALUE, --name=VALUE, --max_restarts for --max-restarts, --flag, --no-flag, -w 2,
 * -w2, joined letters of flags (-aq), and -- before arguments that are no options. */
#pragma once

#include "base/text.h"

enum option_kind {
	OPTION_FLAG, /* --detach, --no-detach */
	OPTION_NUMBER, /* a whole number within low..high */
	OPTION_TEXT,
	OPTION_DURATION, /* 30s, 10m, 1h */
	OPTION_WORD, /* one of `words`, separated by '|' */
	OPTION_LIST, /* a text that may be given several times */
};

/* The headings under which --help lists options, in this order. */
enum option_group {
	OPTIONS_OF_COMMAND, /* specific to this command; the only one of small commands */
	OPTIONS_OF_JOB,
	OPTIONS_OF_PROCESSES,
	OPTIONS_OF_ENDS,
	OPTIONS_OF_OUTPUT,
	OPTIONS_OF_SETUP, /* for installing and uninstalling */
	OPTIONS_OF_KUBERNETES,
	OPTIONS_OF_ALL, /* of every command */
	N_OPTION_GROUPS,
};

struct option_row {
	const char *name; /* "max-restarts"; --max_restarts means the same */
	const char *other_name; /* an older spelling, accepted and not shown; NULL: none */
	const char *value_name; /* "N", "FILE"; NULL for flags and words */
	const char *words; /* "json|yaml|wide|name" for OPTION_WORD; for a flag: --flag=WORD is also
			      accepted, and counts as given; for a number: a word that means its
			      lowest value */
	const char *otherwise; /* default as text, NULL: not set */
	const char *one_line; /* for --help; NULL: accepted for callers of an older program, and not
				 shown */
	int64_t low, high; /* of OPTION_NUMBER */
	enum option_kind kind;
	enum option_group group;
	char letter; /* 'w' or 0 */
	/* MUSTER_MAX_RESTARTS gives the default. For habits (how), not for what a command acts on:
	 * replicas have MUSTER_ROLE and similar in their environment. */
	bool has_variable;
	/* For a list of NAME=VALUE: the values may be secrets, and are overwritten in argv. */
	bool hides_values;
};

/* A row: OPTION("lease", DURATION, "TIME", "5s", "what it does", .letter = 'l'), with its kind, the
 * name of its value, and its default (NULL: not set). The same for a flag, and for one of some
 * words. Members that are not listed follow at the end. */
#define OPTION(row_name, row_kind, name_of_value, row_default, ...)                                \
	{                                                                                          \
		.name = (row_name), .kind = OPTION_##row_kind, .value_name = (name_of_value),      \
		.otherwise = (row_default), .one_line = __VA_ARGS__                                \
	}
#define WORDS(row_name, row_words, row_default, ...)                                               \
	{                                                                                          \
		.name = (row_name), .kind = OPTION_WORD, .words = (row_words),                     \
		.otherwise = (row_default), .one_line = __VA_ARGS__                                \
	}
#define FLAG(row_name, ...)                                                                        \
	{                                                                                          \
		.name = (row_name), .kind = OPTION_FLAG, .one_line = __VA_ARGS__                   \
	}

struct options; /* the values of one command line */
struct command;
struct command_table;

/* The row at `index`: the command's own first, then those of every command (--help, --state-dir);
 * NULL after the last. */
const struct option_row *options_row(const struct command *command, size_t index);
/* The variable of a row: MUSTER_MAX_RESTARTS for max-restarts. Caller frees. */
char *option_variable(const struct option_row *row) MUST_USE;

/* Parses argv (without program and command name), which must outlive the options and may be
 * modified: every user can read a process's arguments while it is running (hides_values).
 * ERR_INVALID on an error: then `faults` has every error, one sentence a line. With --help errors
 * are ignored. */
int options_parse(const struct command_table *table, const struct command *command, int argc,
		  char **argv, struct options **ret_options, struct text *faults) MUST_USE;
/* The table of its command. */
const struct command_table *options_table(const struct options *options);
const struct command *options_command(const struct options *options);
/* The command line as a list of arguments, "muster" first, that ends with NULL. The caller frees
 * the list; its texts are borrowed. */
char **options_call(const struct options *options) MUST_USE;
/* A copy whose text options can be set to other values; free it before the original. */
struct options *options_copy(const struct options *options) MUST_USE;
void options_set_text(struct options *options, const char *name,
		      const char *text); /* borrowed; NULL: the original value */
void options_free(struct options *options); /* NULL is fine */
void options_cleanup(struct options **options);

bool option_is_given(const struct options *options, const char *name); /* on the command line or in
									  the environment */
bool option_flag(const struct options *options, const char *name);
int64_t option_number(const struct options *options, const char *name, int64_t otherwise);
msec option_duration(const struct options *options, const char *name, msec otherwise);
/* Reads the value as a time, or as a duration before `now`. ERR_INVALID; ERR_NOT_FOUND: not set. */
int option_moment(const struct options *options, const char *name, msec now, msec *ret_moment,
		  struct err *err) MUST_USE;
const char *option_text(const struct options *options, const char *name); /* NULL when not set */
const char *const *option_list(const struct options *options, const char *name, size_t *ret_count);

/* Plain arguments, NULL-terminated; after "--", or after the first one where the command takes a
 * program. */
const char *const *options_arguments(const struct options *options);
size_t options_n_arguments(const struct options *options);
/* Whether "--" preceded the arguments. */
bool options_had_separator(const struct options *options);
/* The number of arguments before "--"; all of them if there is none. */
size_t options_n_before_separator(const struct options *options);

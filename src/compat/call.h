/* The muster command line that replaces an old program's, built word by word. */
#pragma once

#include "command/command.h"

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
/* Adds an option and its value; nothing if the value is NULL. */
void call_add_value(struct call *call, const char *option, const char *value);
/* Adds the option alone, if `flag` of the old command line is given. */
void call_add_flag(struct call *call, const char *option, const struct options *old,
		   const char *flag);

/* Appends the command line, quoted for a shell. */
void call_describe(const struct call *call, struct text *text);

/* Prints on stderr what the old command line is now, runs it and returns its exit code. With
 * --dry-run on the old command line it prints the new one on stdout, and runs nothing. */
int call_run(struct call *call, const struct options *old);

/* Runs the old command line itself in the program for clusters (cli/kubernetes_program.h). Returns
 * only if that fails, with the exit code; the error was printed. */
int call_other_program(const struct options *old);

/* The row of --dry-run, which every old program has in addition to its own options. */
#define CALL_ROWS FLAG("dry-run", "print the equivalent muster command, and run nothing")

/* The old programs, one file each. They only translate flags, except TF-Spawner and ElasticDL's
 * client (compat/on_cluster.h). */
extern const struct command compat_local_test, compat_remote_test, compat_grpc_tensorflow_server,
	compat_k8s_tensorflow, compat_tensorflow_elastic, compat_tf_spawner,
	compat_elasticdl_client;

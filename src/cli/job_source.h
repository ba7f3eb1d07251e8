/* Reads the job of a command line: options with a script or a program, or a TFJob file. Shared by
 * `run` and `render`. */
#pragma once

#include "base/own.h"
#include "cli/fetch_options.h"
#include "cli/job_documents.h"
#include "cli/pod_files.h"
#include "cli/pod_options.h"
#include "cli/template_values.h"
#include "command/options.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/limits.h"
#include "spec/pod_fields.h"

#include <stdbool.h>

/* The job of a command line. The caller sets the cluster fields, and zeroes the rest to begin. */
struct job_source {
	bool is_for_kubernetes; /* its script goes into Pods, which have an image */
	bool is_for_this_machine; /* its processes see GPUs, by --visible-gpus */
	bool hides_variables; /* variables of the command line go to a Secret, not into the
				 document */
	sync_folder_pack_fn pack_folder; /* for --sync; NULL in a program without it */
	struct job *job;
	struct pod_files program; /* the files that go with it */
	struct job_secret secret; /* and its variables, if they are not in the document */
	struct fetch_places fetch_places; /* destinations of its fetches */
	bool takes_all; /* all objects of a file, not only its one job */
	struct json *objects; /* these objects, in their order; the last job is `job` */
	struct job_documents documents; /* of the file */
	struct pod_options pods;
	struct pod_file pod_files[2]; /* the files of its Pod template, as far as given */
	size_t n_pod_files;
};

/* Reads the job. False on an error: every error was printed on stderr. */
bool job_source_read(const struct options *options, struct job_source *source) MUST_USE;
void job_source_done(struct job_source *source);

/* The name of the source in messages: the file, or "the command line". */
const char *job_source_name(const struct options *options);

/* Prints faults that were found in the job after it was read. */
void job_source_print_errors(const struct options *options, const struct faults *faults);

/* The rows of the options that job_source_read reads, for a command's table; in addition to those
 * of cli/pod_options.h. */
#define JOB_SOURCE_ROWS                                                                            \
	{.name = "workers",                                                                        \
	 .group = OPTIONS_OF_PROCESSES,                                                            \
	 .letter = 'w',                                                                            \
	 .kind = OPTION_NUMBER,                                                                    \
	 .value_name = "N",                                                                        \
	 .otherwise = "1",                                                                         \
	 .high = LIMIT_REPLICAS,                                                                   \
	 .one_line = "number of workers"},                                                         \
		{.name = "ps",                                                                     \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_NUMBER,                                                            \
		 .value_name = "N",                                                                \
		 .otherwise = "0",                                                                 \
		 .high = LIMIT_REPLICAS,                                                           \
		 .one_line = "number of parameter servers"},                                       \
		{.name = "ps-server",                                                              \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "run 'muster server' instead of the script in parameter servers"},    \
		{.name = "worker-server",                                                          \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line =                                                                       \
			 "run 'muster server' in workers too; only the chief runs the script"},    \
		{.name = "chief",                                                                  \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "add a chief"},                                                       \
		{.name = "evaluator",                                                              \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "add an evaluator"},                                                  \
		{.name = "file",                                                                   \
		 .group = OPTIONS_OF_JOB,                                                          \
		 .letter = 'f',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "FILE",                                                             \
		 .one_line = "read the job from a TFJob or Template file (-: standard input)"},    \
		TEMPLATE_VALUE_ROWS,                                                               \
		{.name = "sync",                                                                   \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "DIR",                                                              \
		 .one_line = "copy this directory, without what .gitignore excludes, into the "    \
			     "Pods and run there"},                                                \
		{.name = "fetch",                                                                  \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "ROLE-INDEX:/PATH[:DEST]",                                          \
		 .one_line =                                                                       \
			 "copy this directory from a replica to this machine when the job ends"},  \
		{.name = "name",                                                                   \
		 .group = OPTIONS_OF_JOB,                                                          \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "NAME",                                                             \
		 .one_line = "job name (default: the script's name plus 5 random characters)"},    \
		{.name = "module",                                                                 \
		 .group = OPTIONS_OF_JOB,                                                          \
		 .letter = 'm',                                                                    \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "run a Python module instead of a script"},                           \
		{.name = "private-network",                                                        \
		 .group = OPTIONS_OF_JOB,                                                          \
		 .kind = OPTION_FLAG,                                                              \
		 .one_line = "use a network namespace that no other user or machine can reach"},   \
		{.name = "network-policy",                                                         \
		 .group = OPTIONS_OF_KUBERNETES,                                                   \
		 .kind = OPTION_FLAG,                                                              \
		 .otherwise = "true",                                                              \
		 .one_line = "create a NetworkPolicy that admits only the job's own Pods"},        \
		{.name = "env",                                                                    \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .letter = 'e',                                                                    \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "NAME[=VALUE]",                                                     \
		 .hides_values = true,                                                             \
		 .one_line = "set a variable in every process (without =VALUE: copy it from the "  \
			     "shell)"},                                                            \
		{.name = "env-file",                                                               \
		 .group = OPTIONS_OF_PROCESSES,                                                    \
		 .kind = OPTION_LIST,                                                              \
		 .value_name = "FILE",                                                             \
		 .one_line = "read variables from a file of NAME[=VALUE] lines"},                  \
		{.name = "max-restarts",                                                           \
		 .group = OPTIONS_OF_ENDS,                                                         \
		 .kind = OPTION_NUMBER,                                                            \
		 .value_name = "N",                                                                \
		 .low = -1,                                                                        \
		 .high = INT32_MAX,                                                                \
		 .has_variable = true,                                                             \
		 .one_line =                                                                       \
			 "maximum number of restarts after failures (-1: no limit; default 0)"},   \
		{.name = "restart-scope",                                                          \
		 .group = OPTIONS_OF_ENDS,                                                         \
		 .kind = OPTION_WORD,                                                              \
		 .words = "job|replica|worker",                                                    \
		 .has_variable = true,                                                             \
		 .one_line =                                                                       \
			 "what to restart after a failure (default: worker with --ps, else job)"}, \
		{.name = "timeout",                                                                \
		 .group = OPTIONS_OF_ENDS,                                                         \
		 .kind = OPTION_DURATION,                                                          \
		 .value_name = "TIME",                                                             \
		 .has_variable = true,                                                             \
		 .one_line = "stop the job after this time, with exit code 124"},                  \
		{.name = "stop-signal",                                                            \
		 .group = OPTIONS_OF_ENDS,                                                         \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "SIGNAL",                                                           \
		 .has_variable = true,                                                             \
		 .one_line =                                                                       \
			 "signal that stops the processes (default: SIGTERM; SIGINT on Ctrl-C)"},  \
	{                                                                                          \
		.name = "grace", .group = OPTIONS_OF_ENDS, .kind = OPTION_DURATION,                \
		.value_name = "TIME", .has_variable = true,                                        \
		.one_line = "grace period between that signal and SIGKILL (default 30s)"           \
	}

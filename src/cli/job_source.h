/* Reads the job of a command line: options with a script or a program, or a TFJob file. Shared by
 * `run` and `render`. */
#pragma once

#include "base/own.h"
#include "cli/job_documents.h"
#include "cli/pod_options.h"
#include "command/options.h"
#include "command/variables.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/limits.h"
#include "spec/pod_fields.h"

/* The job of a command line. The caller sets the options and the cluster fields, and zeroes the
 * rest to begin. */
struct job_source {
	const struct options *options;
	bool is_for_kubernetes; /* its script goes into Pods, which have an image */
	bool is_for_this_machine; /* its processes see GPUs, by --visible-gpus, or wait for them */
	const char *after, *after_any; /* names of jobs, as in spec/job.h; NULL: none */
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

	struct variables variables; /* of the command line, for the document */
	struct text faults; /* errors in the command line, one sentence a line */
};

/* Reads the job. False on an error: every error was printed on stderr. */
bool job_source_read(struct job_source *source) MUST_USE;
void job_source_done(struct job_source *source);

/* The name of the source in messages: the file, or "the command line". */
const char *job_source_name(const struct options *options);

/* Prints faults that were found in the job after it was read. */
void job_source_print_errors(const struct options *options, const struct faults *faults);

/* Whether the job can run on a cluster (kube/objects.h); prints the faults. */
bool job_source_fits_cluster(const struct job_source *source) MUST_USE;

/* The rows of the options that job_source_read reads, for a command's table; in addition to those
 * of cli/pod_options.h. */
#define JOB_SOURCE_ROWS                                                                            \
	OPTION("workers", NUMBER, "N", "1", "number of workers", .letter = 'w',                    \
	       .high = LIMIT_REPLICAS, .group = OPTIONS_OF_PROCESSES),                             \
		OPTION("ps", NUMBER, "N", "0", "number of parameter servers",                      \
		       .high = LIMIT_REPLICAS, .group = OPTIONS_OF_PROCESSES),                     \
		FLAG("ps-server",                                                                  \
		     "run 'muster server' instead of the script in parameter servers",             \
		     .group = OPTIONS_OF_PROCESSES),                                               \
		FLAG("worker-server",                                                              \
		     "run 'muster server' in workers too; only the chief runs the script",         \
		     .group = OPTIONS_OF_PROCESSES),                                               \
		FLAG("chief", "add a chief", .group = OPTIONS_OF_PROCESSES),                       \
		FLAG("evaluator", "add an evaluator", .group = OPTIONS_OF_PROCESSES),              \
		OPTION("file", TEXT, "FILE", NULL,                                                 \
		       "read the job from a TFJob or Template file (-: standard input)",           \
		       .letter = 'f', .group = OPTIONS_OF_JOB),                                    \
		TEMPLATE_VALUE_ROWS,                                                               \
		OPTION("sync", TEXT, "DIR", NULL,                                                  \
		       "copy this directory, without what .gitignore excludes, into the Pods and " \
		       "run there",                                                                \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("fetch", LIST, "ROLE-INDEX:/PATH[:DEST]", NULL,                             \
		       "copy this directory from a replica to this machine when the job ends",     \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("name", TEXT, "NAME", NULL,                                                 \
		       "job name (default: the script's name plus 5 random characters)",           \
		       .group = OPTIONS_OF_JOB),                                                   \
		FLAG("module", "run a Python module instead of a script", .letter = 'm',           \
		     .group = OPTIONS_OF_JOB),                                                     \
		FLAG("private-network",                                                            \
		     "use a network namespace that no other user or machine can reach",            \
		     .group = OPTIONS_OF_JOB),                                                     \
		OPTION("nice", NUMBER, "N", "0",                                                   \
		       "niceness of the processes on this machine, 0 to 19", .high = NICE_MOST,    \
		       .group = OPTIONS_OF_PROCESSES),                                             \
		OPTION("network-policy", FLAG, NULL, "true",                                       \
		       "create a NetworkPolicy that admits only the job's own Pods",               \
		       .group = OPTIONS_OF_KUBERNETES),                                            \
		OPTION("env", LIST, "NAME[=VALUE]", NULL,                                          \
		       "set a variable in every process (without =VALUE: copy it from the shell)", \
		       .letter = 'e', .group = OPTIONS_OF_PROCESSES, .hides_values = true),        \
		OPTION("env-file", LIST, "FILE", NULL,                                             \
		       "read variables from a file of NAME[=VALUE] lines",                         \
		       .group = OPTIONS_OF_PROCESSES),                                             \
		OPTION("max-restarts", NUMBER, "N", NULL,                                          \
		       "maximum number of restarts after failures (-1: no limit; default 0)",      \
		       .low = -1, .high = INT32_MAX, .group = OPTIONS_OF_ENDS,                     \
		       .has_variable = true),                                                      \
		WORDS("restart-scope", "job|replica|worker", NULL,                                 \
		      "what to restart after a failure (default: worker with --ps, else job)",     \
		      .group = OPTIONS_OF_ENDS, .has_variable = true),                             \
		OPTION("timeout", DURATION, "TIME", NULL,                                          \
		       "stop the job after this time, with exit code 124",                         \
		       .group = OPTIONS_OF_ENDS, .has_variable = true),                            \
		OPTION("stop-signal", TEXT, "SIGNAL", NULL,                                        \
		       "signal that stops the processes (default: SIGTERM; SIGINT on Ctrl-C)",     \
		       .group = OPTIONS_OF_ENDS, .has_variable = true),                            \
		OPTION("grace", DURATION, "TIME", NULL,                                            \
		       "grace period between that signal and SIGKILL (default 30s)",               \
		       .group = OPTIONS_OF_ENDS, .has_variable = true)

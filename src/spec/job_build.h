/* From flags to a job: the TFJob document that `muster run` makes of its options. */
#pragma once

#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

/* What a command line says. Zero counts are roles that the job does not have. */
struct job_build {
	const char *name; /* a DNS-1035 label (name_to_dns1035 makes one) */
	int workers;
	int ps;
	bool has_chief;
	bool has_evaluator;
	const char *const *command; /* NULL-terminated, the program first */
	bool ps_are_servers; /* parameter servers run `muster server` instead of the command */
	bool workers_are_servers; /* and so do workers: the chief alone runs the command */
	const char *working_dir; /* NULL: none is written */
	const struct env_entry *env;
	size_t n_env;
	int max_restarts; /* 0: none; -1: without limit */
	const char *restart_scope; /* a word of restart_scope_words; NULL: worker where there is a
				      ps, job elsewhere */
	msec grace; /* -1: none is written; rounded up to seconds */
	const char *stop_signal; /* as spec/stop_signal.h reads it; NULL: none is written */
	msec timeout; /* -1: none; rounded up to seconds */
};

/* The document, which job_read reads without a fault when the parts are valid. Caller frees.
 *
 * Every role runs the same command (but for those that are bare TensorFlow servers), in a container
 * named `tensorflow` without an image.
 * restartPolicy is Never where max_restarts is 0, else OnFailure; successPolicy is AllWorkers where
 * there is no chief; cleanPodPolicy is Running. Texts are taken literally: a `$` that Kubernetes'
 * $(NAME) expansion would read is doubled, so that `sh -c 'echo $$'` reaches the shell as it was
 * typed. */
struct json *job_document_new(const struct job_build *build) MUST_USE;

/* Adds variables to a container of a document, behind its own; their values are taken literally as
 * above. */
void job_document_add_env(struct json *container, const struct env_entry *env, size_t n_env);

/* Makes the TFJob document of a `muster run` from its options. */
#pragma once

#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"

/* The options of a command line. Zero counts are roles that the job does not have. */
struct job_build {
	const char *name; /* a DNS-1035 label (name_to_dns1035 makes one) */
	int workers;
	int ps;
	bool has_chief;
	bool has_evaluator;
	const char *const *command; /* NULL-terminated, the program first */
	bool ps_are_servers; /* parameter servers run `muster server` instead of the command */
	bool workers_are_servers; /* and workers too: only the chief runs the command */
	const char *working_dir; /* NULL: none is written */
	const struct env_entry *env;
	size_t n_env;
	int max_restarts; /* 0: none; -1: no limit */
	const char *restart_scope; /* of restart_scope_words; NULL: worker with a ps, else job */
	msec grace; /* -1: none is written; rounded up to seconds */
	const char *stop_signal; /* as for spec/job.h; NULL: none is written */
	msec timeout; /* -1: none; rounded up to seconds */
};

/* The document, which job_read reads without a fault if the parts are valid. Caller frees. Every
 * role runs the same command (except those that are only TensorFlow servers), in a container named
 * `tensorflow` without an image.
 *
 * restartPolicy is Never if max_restarts is 0, else OnFailure; successPolicy is AllWorkers if there
 * is no chief; cleanPodPolicy is Running. Texts are literal: a `$` that Kubernetes' $(NAME)
 * expansion would read is doubled, so that `sh -c 'echo $$'` reaches the shell unchanged. */
struct json *job_document_new(const struct job_build *build) MUST_USE;

/* Adds variables to a container of a document, after its own; their values are literal as above. */
void job_document_add_env(struct json *container, const struct env_entry *env, size_t n_env);

/* Names of jobs: those that a command line gives, and those for jobs that the user has not named.
 */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"

/* "digits-x7k2p" from "digits.py": a DNS-1035 label of the word without its ending, short enough
 * for the names of its replicas (PROGRAM-evaluator-0, at most 63 characters), and five random
 * characters as Kubernetes' generateName adds them (k8s.io/apiserver/pkg/storage/names: no vowels,
 * no 0, 1, 3). The name is checked against the jobs of this machine: with 6,000 recorded jobs, one
 * random name in 2,000 is taken. Caller frees. */
char *job_name_choose(const struct options *options, const char *word) MUST_USE;
/* The same from the id of an elastic job, whose name is never that of an object on a cluster: a
 * digit may be the first character, and a dot ends nothing. `place` is that of a task of Slurm, as
 * no other has it, instead of random characters; NULL: none. Caller frees. */
char *job_name_choose_of_id(const struct options *options, const char *id,
			    const char *place) MUST_USE;
/* The prefix and five random characters, as generateName makes them. Caller frees. */
char *job_name_generate(const char *beginning) MUST_USE;

enum job_place {
	JOB_ANYWHERE, /* a plain name: a job of this machine, else of the cluster */
	JOB_HERE,
	JOB_ON_CLUSTER,
};

struct job_reference {
	enum job_place place;
	char *namespace_name; /* of JOB_ON_CLUSTER; else NULL */
	const char *name; /* borrowed from the text that was read */
};

/* Reads "digits", "local/digits" or "kubernetes/NAMESPACE/digits". ERR_INVALID for any other text,
 * with the valid forms. The caller frees it with job_reference_done. */
int job_reference_read(const char *text, struct job_reference *ret_reference,
		       struct err *err) MUST_USE;
void job_reference_done(struct job_reference *reference);

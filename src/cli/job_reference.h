/* The name of a job on a command line: "digits", "local/digits", "kubernetes/NAMESPACE/digits". */
#pragma once

#include "base/err.h"
#include "base/own.h"

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

/* ERR_INVALID for any other text, with the valid forms. The caller frees it with
 * job_reference_done. */
int job_reference_read(const char *text, struct job_reference *ret_reference,
		       struct err *err) MUST_USE;
void job_reference_done(struct job_reference *reference);

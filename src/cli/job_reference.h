/* What a person writes to name a job: "digits", "local/digits", "kubernetes/NAMESPACE/digits". */
#pragma once

#include "base/err.h"
#include "base/own.h"

enum job_place {
	JOB_ANYWHERE, /* a plain name: here, else on the cluster */
	JOB_HERE,
	JOB_ON_CLUSTER,
};

struct job_reference {
	enum job_place place;
	char *namespace_name; /* of JOB_ON_CLUSTER; else NULL */
	const char *name; /* borrowed from what was written */
};

/* ERR_INVALID for anything else, with the forms there are. The caller ends it with
 * job_reference_done. */
int job_reference_read(const char *text, struct job_reference *ret_reference,
		       struct err *err) MUST_USE;
void job_reference_done(struct job_reference *reference);

/* Protects a job's document against changes by other clients.
 *
 * A supervisor creates Pods from a job's document with the permissions of its user. So the document
 * is pinned at the start. Of later changes, only the replicas of a role, suspension and a stop
 * request are accepted (docs/design/0031). */
#pragma once

#include "base/json.h"
#include "base/text.h"

struct pinned_job;

/* The document is normalized (job_read), and is copied. */
struct pinned_job *pinned_job_new(const struct json *document) MUST_USE;
void pinned_job_free(struct pinned_job *pin);

/* The pinned document with the accepted changes of `document`, which any client may have written.
 * Adds the names of other changed fields to `differences`, in Kubernetes' spelling, once for each
 * new text. A text that is no valid job is returned unchanged: it cannot be read. Caller frees. */
char *pinned_job_apply(struct pinned_job *pin, const char *document,
		       struct text *differences) MUST_USE;

/* The document of a job that others may write, as far as what they write counts.
 *
 * A supervisor makes Pods of a job's document with the rights of its user. So a document is
 * pinned when that begins: of what stands there later, how many replicas a role has, whether the
 * job is suspended and a stop that was asked for are taken, and nothing else
 * (docs/design/0031). */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "base/text.h"

struct pinned_job;

/* The document is normalised (job_read), and is copied. */
struct pinned_job *pinned_job_new(const struct json *document) MUST_USE;
void pinned_job_free(struct pinned_job *pin);

/* The pinned document with what counts of this one, which may come from anybody. Where another
 * field differs, `differences` names it as Kubernetes does, once for each new text. A document that
 * is no job's stays as it is: nobody can read it. Caller frees. */
char *pinned_job_apply(struct pinned_job *pin, const char *document,
		       struct text *differences) MUST_USE;

/* Changes the document of an unfinished job: shared by suspend, resume and scale. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/lookup.h"

#include <stdbool.h>

/* Applies a merge patch (RFC 7396) to a job. ERR_REFUSED when the job has finished. */
int change_job(const struct found_job *found, const struct json *patch, struct err *err) MUST_USE;

/* Sets or clears spec.runPolicy.suspend. ERR_REFUSED when the job has finished. */
int change_suspension(const struct found_job *found, bool is_suspended, struct err *err) MUST_USE;

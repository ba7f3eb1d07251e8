/* A job and its status as text for users: in full, or one line. */
#pragma once

#include "base/json.h"
#include "status/status.h"

struct status_style {
	bool is_wide; /* more columns */
	bool is_local; /* times in this machine's time zone, not UTC */
};

/* Adds the full text of a TFJob and its status, which was read from it; command lines in it name it
 * by `job_words` (spec/job.h). ERR_IO for a job that cannot be read. */
int status_text_add(const struct json *tfjob, const struct status *status, const char *job_words,
		    const struct status_style *style, struct text *text, struct err *err) MUST_USE;
/* A line that changes whenever the job changes, for logs and pipes. The same error. */
int status_text_add_line(const struct json *tfjob, const struct status *status, struct text *text,
			 struct err *err) MUST_USE;

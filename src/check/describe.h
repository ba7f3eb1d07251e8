/* Describes a step in words: its result or its progress. */
#pragma once

#include "check/facts.h"

/* Appends the result of a passed step, "4 of 4 serve", or the fault of the failed one. */
void check_describe_step(const struct check *check, enum check_step step, struct text *text);
/* Appends the current progress: "servers: 3 of 4 serve, waiting for ps-1"; nothing after the
 * end. */
void check_describe_progress(const struct check *check, struct text *text);
/* "2 workers and 2 parameter servers on this machine, model mnist" */
void check_describe_request(const struct check_request *request, struct text *text);
/* "0.3s", "12.1s", "2m5s" */
void check_describe_seconds(msec duration, struct text *text);

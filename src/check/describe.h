/* What is known of a step, in words: what was found, or how far it has come. */
#pragma once

#include "check/facts.h"

/* Adds what a step that passed has found: "4 of 4 serve"; of the one that failed the fault. */
void check_describe_step(const struct check *check, enum check_step step, struct text *text);
/* Adds what goes on now: "servers: 3 of 4 serve, waiting for ps-1"; nothing when all is over. */
void check_describe_progress(const struct check *check, struct text *text);
/* "2 workers and 2 parameter servers on this machine, model mnist" */
void check_describe_request(const struct check_request *request, struct text *text);
/* "0.3s", "12.1s", "2m5s" */
void check_describe_seconds(msec duration, struct text *text);

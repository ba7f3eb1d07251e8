/* What the jobs of a check tell: lines that hold events, and how they end. Only facts are written
 * down here; check/check decides what they mean. For the files of check/check* alone. */
#pragma once

#include "base/json.h"
#include "check/facts.h"
#include "status/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Takes one line of a foreground `muster run`: "ps-1     | {"muster":"serving",…}", or a sentence
 * of muster's own. True when something is known that was not known before. */
bool check_accept_line(struct check *check, enum check_job job, const char *line, size_t len);
/* Takes an event of the replica `from` ("worker-0") of a job. */
bool check_accept_event(struct check *check, enum check_job job, const char *from,
			const struct json *event);

/* Notes what failed in a job that has ended. That muster was asked to end it is no failure, unless
 * the job `was_wanted`. */
void check_record_failure(struct check *check, enum check_job job, const struct status *status,
			  bool was_wanted);

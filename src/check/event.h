/* Reads what the jobs of a check report: lines with events, and how the jobs end. It only records
 * facts; check/check.c interprets them. */
#pragma once

#include "check/facts.h"
#include "status/status.h"

/* Reads one line of a foreground `muster run`: "ps-1     | {"muster":"serving",…}", or a message
 * of muster itself. Returns true if it adds something new. */
bool check_accept_line(struct check *check, enum check_job job, const char *line, size_t len);
/* Reads an event of the replica `from` ("worker-0") of a job. */
bool check_accept_event(struct check *check, enum check_job job, const char *from,
			const struct json *event);

/* Records what failed in a job that has ended. An end that muster requested is no failure, unless
 * the job `was_wanted`. */
void check_record_failure(struct check *check, enum check_job job, const struct status *status,
			  bool was_wanted);

/* The block that tells people why a job failed, the same wherever it is shown. */
#pragma once

#include "base/text.h"
#include "core/status.h"

/* Appends the cause, the last lines of the replica that failed first, and what only followed:
 *
 *     worker-1 exited with code 3 after 2s (attempt 0)
 *     last lines of worker-1:
 *       | Traceback (most recent call last):
 *     only consequences:
 *       worker-0 was ended by muster
 */
void failure_describe(const struct failure *failure, struct text *text);

/* Restarts: which failures are answered by another attempt, of whom, how often and how soon. */
#pragma once

#include "core/decision.h"

#include <stdbool.h>

/* Answers every replica that ended and may not stay ended: with a new attempt of it or of the whole
 * job (restartScope), or, where its policy, backoffLimit or the deadline says no, with the end of
 * the job.
 * False when there was nothing to answer. */
bool restart_or_fail(struct decision *decision);

/* How long to wait before a restart when `recent` ones came before it without an attempt that lived
 * long: 0, 1, 2, 4 … 60 s. */
msec restart_delay(int recent);

/* The moment before which this replica may not be started; `now` or earlier when it need not wait.
 * A clock that was set back since does not hold a restart up. */
msec restart_waits_until(const struct decision *decision, const struct replica *replica);

#define RESTART_LONG_LIFE                                                                          \
	(10 * MSEC_PER_SECOND) /* an attempt that lived this long starts afresh                    \
				*/

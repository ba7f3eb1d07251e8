/* The delay before a failed replica, job or world of an elastic job restarts. */
#pragma once

#include "base/backoff.h"

#define RESTART_LONGEST_DELAY (60 * MSEC_PER_SECOND)
/* After an attempt that lived this long the delays begin from 0 again. */
#define RESTART_LONG_LIFE (10 * MSEC_PER_SECOND)

/* The delay after `recent` restarts without a long-lived attempt: 0, 1, 2, 4 … 60 s. */
static inline msec restart_delay(int recent)
{
	return backoff_pause(MSEC_PER_SECOND, RESTART_LONGEST_DELAY, recent);
}

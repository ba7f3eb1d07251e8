/* How soon what has failed starts again: a replica, a job, a world of an elastic job. */
#pragma once

#include "base/msec.h"

/* The wait before a restart when `recent` ones came before it without an attempt that lived long:
 * 0, 1, 2, 4 … 60 s. */
msec restart_delay(int recent);

#define RESTART_LONGEST_DELAY (60 * MSEC_PER_SECOND)
/* An attempt that lived this long starts afresh. */
#define RESTART_LONG_LIFE (10 * MSEC_PER_SECOND)

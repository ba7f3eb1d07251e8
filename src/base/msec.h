/* Times in milliseconds of the wall clock since 1970, and durations; functions get the present time
 * as `now`. What one process waits for is a moment of the other clock (base/instant.h). */
#pragma once

#include <stdint.h>

typedef int64_t msec;

/* "Never": later than any time; also the value of `wake_at` if nothing is due. */
#define MSEC_NEVER INT64_MAX
/* "Not set": the event has not happened yet. */
#define MSEC_UNSET ((msec) 0)

#define MSEC_PER_SECOND ((msec) 1000)

/* Limit of durations from outside: a century. Added to a time it does not overflow. */
#define MSEC_LONGEST ((msec) 100 * 366 * 24 * 3600 * MSEC_PER_SECOND)

static inline msec msec_min(msec a, msec b)
{
	return a < b ? a : b;
}

static inline msec msec_max(msec a, msec b)
{
	return a > b ? a : b;
}

/* Adjusts a time after its clock was set, if the time is set. */
static inline void msec_move(msec *moment, msec step)
{
	if (*moment != MSEC_UNSET && *moment != MSEC_NEVER)
		*moment += step;
}

/* A duration from outside: any number is possible, and is limited to 0..MSEC_LONGEST. */
static inline msec msec_of_seconds(int64_t seconds)
{
	if (seconds < 0)
		return 0;
	return seconds < MSEC_LONGEST / MSEC_PER_SECOND ? seconds * MSEC_PER_SECOND : MSEC_LONGEST;
}

/* Seconds, rounded up: writing down a time limit never shortens it. */
static inline int64_t msec_to_whole_seconds(msec duration)
{
	return (duration + MSEC_PER_SECOND - 1) / MSEC_PER_SECOND;
}

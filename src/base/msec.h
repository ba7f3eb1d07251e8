/* Time as this program counts it: milliseconds of the wall clock since 1970, handed in as `now`. */
#pragma once

#include <stdint.h>

typedef int64_t msec;

/* "Never": later than every real time; also what `wake_at` says when nothing is due. */
#define MSEC_NEVER INT64_MAX
/* "Not set": a time that has not come about yet. */
#define MSEC_UNSET ((msec) 0)

#define MSEC_PER_SECOND ((msec) 1000)

static inline msec msec_min(msec a, msec b)
{
	return a < b ? a : b;
}

/* Seconds, rounded up: a time limit never becomes shorter by being written down. */
static inline int64_t msec_to_whole_seconds(msec duration)
{
	return (duration + MSEC_PER_SECOND - 1) / MSEC_PER_SECOND;
}

/* Time as this program counts it: milliseconds of the wall clock since 1970, handed in as `now`. */
#pragma once

#include <stdint.h>

typedef int64_t msec;

/* "Never": later than every real time; also what `wake_at` says when nothing is due. */
#define MSEC_NEVER INT64_MAX
/* "Not set": a time that has not come about yet. */
#define MSEC_UNSET ((msec) 0)

#define MSEC_PER_SECOND ((msec) 1000)

/* Of durations that others name: a century. With a time it makes one that can still be counted. */
#define MSEC_LONGEST ((msec) 100 * 366 * 24 * 3600 * MSEC_PER_SECOND)

static inline msec msec_min(msec a, msec b)
{
	return a < b ? a : b;
}

static inline msec msec_max(msec a, msec b)
{
	return a > b ? a : b;
}

/* Moves a moment with the clock that it is on, if it has come about. */
static inline void msec_move(msec *moment, msec step)
{
	if (*moment != MSEC_UNSET && *moment != MSEC_NEVER)
		*moment += step;
}

/* A duration as somebody outside wrote it: any number may stand there, none below 0 and none above
 * MSEC_LONGEST counts. */
static inline msec msec_of_seconds(int64_t seconds)
{
	if (seconds < 0)
		return 0;
	return seconds < MSEC_LONGEST / MSEC_PER_SECOND ? seconds * MSEC_PER_SECOND : MSEC_LONGEST;
}

/* Seconds, rounded up: a time limit never becomes shorter by being written down. */
static inline int64_t msec_to_whole_seconds(msec duration)
{
	return (duration + MSEC_PER_SECOND - 1) / MSEC_PER_SECOND;
}

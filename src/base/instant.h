/* Moments of the monotonic clock: what one process waits for, however the wall clock is set. A type
 * of its own, so that the compiler rejects a moment of the wall clock (base/msec.h) in its place.
 * Another process cannot know what it means: it is never stored or sent. */
#pragma once

#include "base/msec.h"

#include <stdbool.h>

typedef struct {
	int64_t since_boot; /* milliseconds; only this file and io/loop.c use it */
} instant;

#define INSTANT_NEVER ((instant){MSEC_NEVER})
/* "Not set", as memory begins. Later moments have come after it, so it is also "immediately". */
#define INSTANT_UNSET ((instant){0})

static inline bool instant_is_set(instant moment)
{
	return moment.since_boot != 0;
}

static inline bool instant_is_never(instant moment)
{
	return moment.since_boot == MSEC_NEVER;
}

static inline bool instant_is_before(instant a, instant b)
{
	return a.since_boot < b.since_boot;
}

static inline bool instant_has_come(instant moment, instant now)
{
	return moment.since_boot <= now.since_boot;
}

static inline instant instant_min(instant a, instant b)
{
	return instant_is_before(b, a) ? b : a;
}

static inline instant instant_max(instant a, instant b)
{
	return instant_is_before(a, b) ? b : a;
}

/* The duration may be negative, or MSEC_NEVER. */
static inline instant instant_add(instant moment, msec duration)
{
	if (instant_is_never(moment) || duration == MSEC_NEVER)
		return INSTANT_NEVER;
	return (instant){moment.since_boot + duration};
}

/* Negative: `earlier` is the later one. */
static inline msec instant_since(instant earlier, instant now)
{
	return now.since_boot - earlier.since_boot;
}

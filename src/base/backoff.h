/* The pauses between tries that keep failing. Pure: the caller counts the failures. */
#pragma once

#include "base/msec.h"

/* The pause after this many failures in a row: 0 after none, then `first`, which doubles with each
 * further failure, up to `longest`. */
static inline msec backoff_pause(msec first, msec longest, int n_failures)
{
	msec pause = n_failures > 0 ? msec_min(first, longest) : 0;

	for (int i = 1; i < n_failures && pause < longest; i++)
		pause = pause > longest / 2 ? longest : 2 * pause;
	return pause;
}

/* The pause and up to this part of it more, so that clients that failed together do not try again
 * together. `jitter` is a random number from 0 to 1. */
static inline msec backoff_spread(msec pause, double part, double jitter)
{
	return pause + (msec) ((double) pause * part * jitter);
}

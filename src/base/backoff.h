/* The pauses between tries that keep failing. Pure: the caller counts the failures. */
#pragma once

#include "base/msec.h"

/* The pause after this many failures in a row: 0 after none, then `first`, which doubles with each
 * further failure, up to `longest`. */
msec backoff_pause(msec first, msec longest, int n_failures);
/* The pause and up to this part of it more, so that clients that failed together do not try again
 * together. `jitter` is a random number from 0 to 1. */
msec backoff_spread(msec pause, double part, double jitter);

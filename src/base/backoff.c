#include "base/backoff.h"

msec backoff_pause(msec first, msec longest, int n_failures)
{
	msec pause = n_failures > 0 ? msec_min(first, longest) : 0;

	for (int i = 1; i < n_failures && pause < longest; i++)
		pause = pause > longest / 2 ? longest : 2 * pause;
	return pause;
}

msec backoff_spread(msec pause, double part, double jitter)
{
	return pause + (msec) ((double) pause * part * jitter);
}

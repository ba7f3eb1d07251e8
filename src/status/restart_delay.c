#include "status/restart_delay.h"

#include "base/backoff.h"

msec restart_delay(int recent)
{
	return backoff_pause(MSEC_PER_SECOND, RESTART_LONGEST_DELAY, recent);
}

#include "status/restart_delay.h"

msec restart_delay(int recent)
{
	if (recent <= 0)
		return 0;
	return recent > 6 ? RESTART_LONGEST_DELAY
			  : msec_min(MSEC_PER_SECOND << (recent - 1), RESTART_LONGEST_DELAY);
}

#include "io/time_zone.h"

#include <time.h>
#include <unistd.h>

int time_zone_offset(msec time)
{
	time_t seconds = (time_t) (time / MSEC_PER_SECOND);
	struct tm local;

	tzset(); /* localtime_r need not */
	return localtime_r(&seconds, &local) ? (int) (local.tm_gmtoff / 60) : 0;
}

int time_zone_offset_on(int fd, msec time)
{
	return time != MSEC_UNSET && isatty(fd) ? time_zone_offset(time) : 0;
}

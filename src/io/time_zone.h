/* The time zone of this machine (TZ, else /etc/localtime). */
#pragma once

#include "base/msec.h"

/* Its offset from UTC at that moment, in minutes east, with daylight saving time. */
int time_zone_offset(msec time);
/* The same for output on the terminal `fd`; 0, which is UTC, if `fd` is no terminal, or the time is
 * MSEC_UNSET. */
int time_zone_offset_on(int fd, msec time);

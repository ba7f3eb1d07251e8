/* The clocks of this machine's time zone (TZ, else /etc/localtime). */
#pragma once

#include "base/msec.h"

/* Minutes that they are ahead of UTC at that moment, daylight saving time included. */
int time_zone_offset(msec time);
/* The same for a person who reads it on the terminal `fd`; 0, which is UTC, where `fd` is none, or
 * the moment is MSEC_UNSET. */
int time_zone_offset_on(int fd, msec time);

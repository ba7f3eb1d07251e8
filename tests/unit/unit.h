/* What every cmocka test needs before cmocka.h itself. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/instant.h"

/* A moment of virtual time. */
static inline instant moment(msec at)
{
	return (instant){at};
}

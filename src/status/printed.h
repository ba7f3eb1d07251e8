/* The last lines that a program printed, oldest first. */
#pragma once

#include "base/msec.h"

#include <stddef.h>

struct printed {
	const char **lines;
	msec *times; /* of each line; NULL: unknown */
	size_t count;
};

/* The last lines that a program printed, oldest first. */
#pragma once

#include "base/msec.h"

#include <stddef.h>

struct printed {
	const char **lines;
	msec *times; /* of each; NULL: nobody knows */
	size_t count;
};

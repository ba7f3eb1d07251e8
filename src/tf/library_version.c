#include "tf/library_version.h"

#include <stdio.h>

#define LEAST_MAJOR 2
#define LEAST_MINOR 12

bool library_version_suffices(const char *version)
{
	int major = 0, minor = 0;

	if (sscanf(version, "%d.%d", &major, &minor) != 2)
		return false;
	return major > LEAST_MAJOR || (major == LEAST_MAJOR && minor >= LEAST_MINOR);
}

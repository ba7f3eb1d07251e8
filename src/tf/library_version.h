/* Which versions of TensorFlow are new enough: the wheel has brought the C library since 2.12. */
#pragma once

#include <stdbool.h>

#define LIBRARY_LEAST_VERSION "2.12"

/* "2.21.0", "2.12.0rc1" …; false also for what is no version. */
bool library_version_suffices(const char *version);

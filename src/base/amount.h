/* Formats byte counts for users. */
#pragma once

#include "base/own.h"

#include <stdint.h>

/* "34 bytes", "1.5 kB", "2.0 GB". Caller frees. */
char *amount_of_bytes(uint64_t bytes) MUST_USE;

/* "worker-1", as people name a replica. Pure. */
#pragma once

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the first `len` bytes of a text; false where they are none. Caller frees the role. */
bool replica_name_read(const char *text, size_t len, char **ret_role, int *ret_index) MUST_USE;

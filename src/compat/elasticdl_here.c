/* The program `muster` has no HTTP client. */
#include "compat/elasticdl_call.h"

#include <stddef.h>

int (*const elasticdl_call)(const struct elasticdl_call *call) = NULL;

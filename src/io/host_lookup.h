/* Looks up the address of a host without waiting for it. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

struct host_lookup;

/* A thread of the C library does it. */
struct host_lookup *host_lookup_new(const char *host) MUST_USE;
/* Whether it has ended. *ret_address: the IP address, which the caller frees; NULL: none was found,
 * or it has not ended. */
bool host_lookup_is_done(struct host_lookup *lookup, char **ret_address);
/* Does not wait, either: a lookup that cannot be cancelled stays in memory. NULL is fine. */
void host_lookup_free(struct host_lookup *lookup);

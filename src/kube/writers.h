/* Removes metadata.managedFields from the JSON of a server's objects. It is nearly half of a Pod,
 * and only the reader of Leases uses it (kube/lease.h). Skipping it unparsed costs one scan of the
 * bytes. */
#pragma once

#include "base/text.h"

#include <stddef.h>

/* If something was removed, *bytes and *len refer to `text`, which must be empty before; otherwise
 * they are unchanged. Only JSON without white space, as API servers write it, is recognized. */
void writers_leave_out(const char **bytes, size_t *len, struct text *text);

/* Of objects of a server, as JSON, leaves out who wrote which field (metadata.managedFields):
 * nearly half of a Pod, and of all that is here only the Lease's reader looks at it (kube/lease.h).
 * What is not parsed costs a look at each byte. */
#pragma once

#include "base/text.h"

#include <stddef.h>

/* *bytes and *len are those in `text`, which is empty before, when something was left out; else
 * they stay. Only what is written without white space, as API servers do, is left out. */
void writers_leave_out(const char **bytes, size_t *len, struct text *text);

/* Whether an existing object is the one that we created or changed. If the answer to a create or
 * change was lost, another client may have created an object of that name, or changed it first.
 * Pure. */
#pragma once

#include "base/json.h"

#include <stdbool.h>

/* True if `sent` has labels, annotations or owners, and all of them are in `found`. A server adds
 * to what was sent and removes nothing. */
bool kube_was_created(const struct json *sent, const struct json *found);
/* True if `found` has all values of the merge patch (RFC 7386), regardless of resourceVersion: the
 * patch was applied, or is no longer needed. */
bool kube_was_patched(const struct json *patch, const struct json *found);

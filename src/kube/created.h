/* Whether an object that is there is what we tried to make of it: when the answer to a create or a
 * change was lost, somebody else may have made another of that name, or changed it first. Pure. */
#pragma once

#include "base/json.h"

#include <stdbool.h>

/* Something marks the one that was sent, and all its labels, annotations and owners of the one that
 * was sent are on the one that was found. A server adds to what was sent, and takes nothing away.
 */
bool kube_was_created(const struct json *sent, const struct json *found);
/* All that the merge patch says (RFC 7386) is so, whatever the version that it was made from: then
 * it was applied, or need not be any more. */
bool kube_was_patched(const struct json *patch, const struct json *found);

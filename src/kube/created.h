/* Whether an object that is there is the one that we tried to create: when the answer to a create
 * was lost, somebody else may have made another of that name. Pure. */
#pragma once

#include "base/json.h"

#include <stdbool.h>

/* Something marks the one that was sent, and all its labels, annotations and owners of the one that
 * was sent are on the one that was found. A server adds to what was sent, and takes nothing away.
 */
bool kube_was_created(const struct json *sent, const struct json *found);

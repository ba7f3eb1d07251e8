/* JSON merge patch (RFC 7396), what kubectl calls --type=merge. */
#pragma once

#include "base/json.h"

/* The value that becomes of `target` (NULL counts as absent) by `patch`: objects are merged, a null
 * removes a member, anything else replaces. Caller frees; neither argument changes. */
struct json *json_patched(const struct json *target, const struct json *patch) MUST_USE;

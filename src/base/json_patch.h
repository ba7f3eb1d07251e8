/* JSON merge patch (RFC 7396) and JSON patch (RFC 6902): what kubectl calls --type=merge and
 * --type=json. */
#pragma once

#include "base/json.h"

/* The value that becomes of `target` (NULL counts as absent) by `patch`: objects are merged, a null
 * removes a member, anything else replaces. Caller frees; neither argument changes. */
struct json *json_patched(const struct json *target, const struct json *patch) MUST_USE;

/* Adds a step to a patch, an array: "test", "add" or "replace" at a place ("/spec/replicas"). The
 * value is taken. */
void json_patch_add_step(struct json *patch, const char *op, const char *path, struct json *value);

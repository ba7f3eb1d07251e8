/* JSON merge patch (RFC 7396) and JSON patch (RFC 6902): what kubectl calls --type=merge and
 * --type=json. */
#pragma once

#include "base/json.h"

/* Returns `target` (NULL counts as absent) changed by `patch`: objects are merged, a null removes a
 * member, anything else replaces. Caller frees; the arguments do not change. */
struct json *json_patched(const struct json *target, const struct json *patch) MUST_USE;

/* Appends a step to a patch, an array: "test", "add", "replace" or "remove" (whose value is NULL)
 * at a path ("/spec/replicas"). Takes the value over. */
void json_patch_add_step(struct json *patch, const char *op, const char *path, struct json *value);

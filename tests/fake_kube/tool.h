/* What these test programs have in common: lines of JSON out, files and logins in. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "kube/login.h"

/* A line, at once. */
void tool_print(struct json *take_object);
/* The whole content; the program ends with 2 where it cannot be read. Caller frees. */
char *tool_content_of(const char *path) MUST_USE;
/* A login for this server; `files` are those of authority, certificate and key, NULL: none.
 * Caller ends it, mostly by kube_api_free. */
struct kube_login *tool_login_new(const char *server, char *const *files) MUST_USE;

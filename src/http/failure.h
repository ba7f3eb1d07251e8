/* Turns libcurl's failures into errors for users. Part of the HTTP client. */
#pragma once

#include "base/err.h"

#include <curl/curl.h>

/* Sets the error of a transfer that failed with `code`, and returns its code. `origin` names the
 * server in messages ("https://host:port"). `detail` is libcurl's additional message, perhaps
 * empty. */
int http_failure_set(struct err *err, CURL *easy, CURLcode code, const char *origin,
		     const char *detail);

/* What libcurl's ways of failing are for people. Part of the HTTP client. */
#pragma once

#include "base/err.h"

#include <curl/curl.h>

/* Sets the error of a transfer that failed with `code`, and returns its code. `origin` is how
 * people know the server ("https://host:port"), `detail` what libcurl wrote besides, perhaps
 * nothing. */
int http_failure_set(struct err *err, CURL *easy, CURLcode code, const char *origin,
		     const char *detail);

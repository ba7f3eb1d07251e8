/* Turns a request into options of libcurl, and failures into errors. Part of the HTTP client. */
#pragma once

#include "base/err.h"
#include "http/request.h"

#include <curl/curl.h>

/* A copy of a request, except the body, with all that libcurl borrows during the transfer. Small,
 * because many calls may be waiting. Zero it to begin. */
struct http_setup {
	struct arena *arena; /* of the texts of these two */
	struct http_request request;
	struct http_target target;
	struct curl_slist *headers;
	struct curl_slist *connect_to;
};

/* Copies the request. Sets `err` (ERR_INVALID) if it cannot be sent; no header's value is shown. */
void http_setup_take(struct http_setup *setup, const struct http_request *request, struct err *err);
/* Sets all options of the handle, except those for the answer. */
int http_setup_apply(const struct http_setup *setup, CURL *easy, const char *user_agent,
		     struct err *err) MUST_USE;
void http_setup_done(struct http_setup *setup);

/* Sets the error of a transfer that failed with `code`, and returns its code. `origin` names the
 * server in messages ("https://host:port"). `detail` is libcurl's message, or "". */
int http_failure_set(struct err *err, CURL *easy, CURLcode code, const char *origin,
		     const char *detail);

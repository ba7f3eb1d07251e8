/* A request as options of libcurl. Part of the HTTP client. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "http/request.h"
#include "http/target.h"

#include <curl/curl.h>

/* A request of which all but the body is our own, and what libcurl borrows for as long as the
 * transfer lasts. Small: many calls may wait for their turn. Zero it to begin. */
struct http_setup {
	struct http_request request;
	char *method, *proxy; /* what it points to */
	struct http_target target;
	struct curl_slist *headers;
	struct curl_slist *connect_to;
	struct http_trust *trust;
};

/* Copies the request. Sets `err` (ERR_INVALID) when it cannot be sent; no header's value is shown.
 */
void http_setup_take(struct http_setup *setup, const struct http_request *request, struct err *err);
/* Tells the handle all of it but where the answer goes. */
int http_setup_apply(const struct http_setup *setup, CURL *easy, const char *user_agent,
		     struct err *err) MUST_USE;
void http_setup_done(struct http_setup *setup);

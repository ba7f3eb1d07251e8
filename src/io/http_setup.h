/* A request as options of libcurl. Part of the HTTP client. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/http_request.h"
#include "io/http_target.h"

#include <curl/curl.h>

/* What libcurl borrows for as long as the transfer lasts. Zero it to begin. */
struct http_setup {
	struct http_target target;
	struct curl_slist *headers;
	struct curl_slist *connect_to;
	struct http_trust *trust;
};

/* Tells the handle all of the request but where its answer goes. ERR_INVALID: the request cannot be
 * sent; no header's value is shown. */
int http_setup_begin(struct http_setup *setup, CURL *easy, const struct http_request *request,
		     const char *user_agent, struct err *err) MUST_USE;
void http_setup_done(struct http_setup *setup);

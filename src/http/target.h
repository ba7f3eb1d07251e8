/* Where a URL points, and what is to be said of it. Part of the HTTP client. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

struct http_target {
	char *url; /* what is asked of libcurl */
	char *origin; /* how people know the server: "https://host:port" */
	char *place; /* "host:port", as a Host header names it */
	char *path; /* "/path?query", as a request line has it */
	/* Where the server's certificate must name another host than the URL, libcurl is given a
	 * URL with that name, and these two; else NULL. */
	char *connect_to; /* "name:port:host:port" */
	char *host_header; /* "Host: host:port" */
	bool is_loopback; /* this machine: no proxy of the environment has a place between */
};

/* ERR_INVALID: not an absolute http or https URL, or one with a user name. The sentence does not
 * show the URL, in which a password may stand. `server_name` may be NULL. */
int http_target_read(const char *url, const char *server_name, struct http_target *ret_target,
		     struct err *err) MUST_USE;
void http_target_done(struct http_target *target);

/* The parsed URL of a request. Part of the HTTP client. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

struct http_target {
	char *url; /* the URL for libcurl */
	char *origin; /* the server in messages: "https://host:port" */
	char *place; /* "host:port", as in a Host header */
	char *path; /* "/path?query", as in a request line */
	/* If the server's certificate must name another host than the URL, libcurl gets a URL with
	 * that name, and these two; else NULL. */
	char *connect_to; /* "name:port:host:port" */
	char *host_header; /* "Host: host:port" */
	bool is_loopback; /* this machine: proxies of the environment do not apply */
};

/* Returns ERR_INVALID if the URL is not absolute http or https, or has a user name. The text does
 * not show the URL, which may contain a password. `server_name` may be NULL. */
int http_target_read(const char *url, const char *server_name, struct http_target *ret_target,
		     struct err *err) MUST_USE;
void http_target_done(struct http_target *target);

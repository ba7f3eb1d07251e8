/* What an HTTP server refuses before anybody looks at what is asked, beyond what evhttp refuses:
 *
 * - requests that another program on their way could end, or cut into headers, elsewhere (RFC 9112,
 *   5, 6 and 11.2): what one takes for a body is the next request to the other;
 * - requests of a page in a browser. A page of another site says so in Origin, and what it embeds
 * in Sec-Fetch-Site (W3C Fetch Metadata); one whose name leads to an address of this machine (DNS
 *   rebinding) is of the same site, but has its name in Host. */
#pragma once

#include "base/own.h"

struct evhttp_request;

struct http_refusal {
	int status; /* 0: nothing is refused */
	const char *reason;
};

/* `hosts`: the names that Host may say, with any port, besides IP addresses, which no page has for
 * a name of its own; up to NULL. NULL: any. Callers give no Origin, or the host that they name. */
struct http_refusal http_refusal_of(const struct evhttp_request *request,
				    const char *const *hosts) MUST_USE;

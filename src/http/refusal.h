/* Requests that our HTTP server rejects before it handles them, beyond what evhttp rejects:
 *
 * - requests without the secret that callers of a server must give;
 * - requests that another program on the way could split into other headers, or whose length is
 *   not given (RFC 9112, 5, 6 and 11.2; the rest is in http/framing.h): what one takes for a body
 *   is the next request to the other;
 * - requests of a page in a browser. A page of another site is marked by Origin, and what it embeds
 *   by Sec-Fetch-Site (W3C Fetch Metadata). A page whose name resolves to an address of this
 *   machine (DNS rebinding) is of the same site, but has its name in Host. Browsers send
 *   Sec-Fetch-Site only to addresses that they trust: not to the other spellings of loopback,
 *   0.0.0.0, [::] and [::ffff:127.0.0.1]. */
#pragma once

#include "base/own.h"

struct evhttp_request;

struct http_refusal {
	int status; /* 0: not rejected */
	const char *reason;
};

/* `hosts`, ending with NULL: the names that Host may have, with any port. NULL: any. IP addresses
 * are also allowed, since no page has one as its name; on loopback only 127.0.0.0/8 and ::1.
 * Callers send no Origin, or the host that they name. */
struct http_refusal http_refusal_of(const struct evhttp_request *request, const char *const *hosts,
				    bool is_on_loopback) MUST_USE;

/* Whether the request has a header that only browsers send. */
bool http_is_from_browser(const struct evhttp_request *request);

/* Whether `given` is the secret. Its duration depends only on the length of the text. */
typedef bool (*http_secret_fn)(const char *given, const void *secret);

struct http_access {
	http_secret_fn is_known; /* NULL: no secret is required */
	const void *secret;
	const char *header; /* a header with just the secret, as an alternative; NULL: none */
};

/* Whether these headers give the secret: the value of Authorization, as "Bearer SECRET", or that of
 * the other header, which counts alone if it exists. NULL: absent. */
bool http_access_accepts(const struct http_access *access, const char *authorization,
			 const char *own);
/* An http_secret_fn for a secret that is a text. */
bool http_is_same_secret(const char *given, const void *secret);

/* How a server proves its identity to us, and we ours to it. Reference-counted, because calls under
 * way keep using the old certificate when it is renewed. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

/* PEM texts; NULL: absent. */
struct http_trust_parts {
	const char *authority; /* the only certificates to trust; NULL: the system's */
	const char *client_certificate, *client_key;
	const char *server_name; /* the name that its certificate must have; NULL: the URL's host */
	/* The server's public key, "sha256//" and base64 (http/certificate.h), for a self-signed
	 * certificate; NULL: authorities decide. */
	const char *pin;
	bool skips_verify; /* accepts any certificate */
};

struct http_trust;

/* Copies the parts; the caller has the first reference. */
struct http_trust *http_trust_new(const struct http_trust_parts *parts) MUST_USE;
struct http_trust *http_trust_ref(struct http_trust *trust) MUST_USE; /* NULL gives NULL */
/* Releases a reference; the last release overwrites the key. NULL is fine. */
void http_trust_free(struct http_trust *trust);
/* Borrowed; for NULL all parts are empty: the system's authorities. */
const struct http_trust_parts *http_trust_parts(const struct http_trust *trust);

/* How a server proves its identity, and we ours to it: counted, because calls under way go on with
 * what they began with when a certificate is renewed. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

/* PEM texts, each NULL where there is none. */
struct http_trust_parts {
	const char *authority; /* certificates to trust, alone; NULL: the system's */
	const char *client_certificate, *client_key;
	const char *server_name; /* whom its certificate must name; NULL: the URL's host */
	/* The public key of the server, "sha256//" and base64 (http/certificate.h), for a
	 * certificate that no authority vouches for; NULL: authorities count. */
	const char *pin;
	bool skips_verify; /* takes any certificate */
};

struct http_trust;

/* Copies the parts; the caller has the first reference. */
struct http_trust *http_trust_new(const struct http_trust_parts *parts) MUST_USE;
struct http_trust *http_trust_ref(struct http_trust *trust) MUST_USE; /* NULL gives NULL */
/* Gives a reference back; with the last one the key is overwritten. NULL is fine. */
void http_trust_free(struct http_trust *trust);
/* Borrowed; NULL has parts that are all empty: the system's authorities. */
const struct http_trust_parts *http_trust_parts(const struct http_trust *trust);

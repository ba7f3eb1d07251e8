/* The secret that callers of a server must give. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

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

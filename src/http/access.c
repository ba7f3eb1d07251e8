#include "http/access.h"

#include <string.h>
#include <strings.h>

#define BEARER "Bearer "

bool http_is_same_secret(const char *given, const void *data)
{
	const char *secret = data;
	size_t len = strlen(secret), given_len = strlen(given);
	unsigned char difference = len != given_len;

	for (size_t i = 0; i < given_len; i++)
		difference |= (unsigned char) given[i] ^ (unsigned char) secret[i % (len + 1)];
	return difference == 0;
}

/* RFC 6750, 2.1; the name of the scheme is case-insensitive (RFC 9110, 11.1). */
bool http_access_accepts(const struct http_access *access, const char *authorization,
			 const char *own)
{
	if (!access->is_known)
		return true;
	if (own)
		return access->is_known(own, access->secret);
	return authorization && strncasecmp(authorization, BEARER, strlen(BEARER)) == 0 &&
	       access->is_known(authorization + strlen(BEARER), access->secret);
}

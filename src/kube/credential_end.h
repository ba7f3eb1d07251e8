/* Until when a credential is good, as it says itself: the server is not asked. */
#pragma once

#include "base/msec.h"

/* When the first certificate of a PEM text ends (X.509's notAfter); MSEC_NEVER where that cannot be
 * read: then it is for the server to say. */
msec kube_certificate_end(const char *pem);
/* The same of a token: `exp` of a JSON Web Token (RFC 7519, 4.1.4); any other one has no end. */
msec kube_token_end(const char *token);

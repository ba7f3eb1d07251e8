/* Reads the expiry time from a credential itself, without asking the server. */
#pragma once

#include "base/msec.h"

/* When the first certificate of a PEM text expires (X.509's notAfter). MSEC_NEVER if that cannot be
 * read; then the server decides. */
msec kube_certificate_end(const char *pem);
/* When a token expires: `exp` of a JSON Web Token (RFC 7519, 4.1.4). Other tokens: MSEC_NEVER. */
msec kube_token_end(const char *token);

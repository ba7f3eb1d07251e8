/* Base64 (RFC 4648): the standard alphabet with padding, and the one for URLs without. */
#pragma once

#include "base/text.h"

/* Appends the bytes in the standard alphabet, padded. */
void base64_add(struct text *text, const void *bytes, size_t len);

/* Reads the standard alphabet as Go's encoding/json does, which reads Kubernetes' files: padding is
 * required, line ends between characters are ignored. ERR_INVALID has the position of the invalid
 * character, never the text, which may be a secret. A NUL follows the bytes; caller frees. */
int base64_read(const char *text, size_t len, char **ret_bytes, size_t *ret_len,
		struct err *err) MUST_USE;

/* Reads the URL alphabet, without padding and line ends, as in JSON Web Tokens. */
int base64_read_url(const char *text, size_t len, char **ret_bytes, size_t *ret_len,
		    struct err *err) MUST_USE;

/* Base64 (RFC 4648): the standard alphabet with padding, and the one for URLs without. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

/* Adds the bytes in the standard alphabet, padded. */
void base64_add(struct text *text, const void *bytes, size_t len);

/* Reads the standard alphabet as Go's encoding/json does, which reads Kubernetes' files: padding is
 * demanded, line ends between characters are passed over. ERR_INVALID tells which character it is
 * that does not fit and never shows the text, which may be a secret. A NUL is put behind the bytes;
 * the caller frees them. */
int base64_read(const char *text, size_t len, char **ret_bytes, size_t *ret_len,
		struct err *err) MUST_USE;

/* Reads the alphabet for URLs, without padding and line ends, as JSON Web Tokens have it. */
int base64_read_url(const char *text, size_t len, char **ret_bytes, size_t *ret_len,
		    struct err *err) MUST_USE;

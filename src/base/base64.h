/* Base64 (RFC 4648, section 4). */
#pragma once

#include "base/text.h"

#include <stddef.h>

/* Adds the bytes as base64, padded, on one line. */
void base64_add(struct text *text, const void *bytes, size_t len);

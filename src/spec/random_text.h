/* Random texts from a pattern: `generate: expression` of an OpenShift Template. */
#pragma once

#include "base/text.h"

/* Fills the bytes with random ones; passed in, because this layer has no source of its own. */
typedef void (*random_bytes_fn)(void *bytes, size_t len);

/* Adds the pattern with random characters for each "[SET]{N}" in it, 1 to 255 of them: "[A-Z]{3}"
 * or "pass-[a-zA-Z0-9]{8}". A set has letters, digits, ranges of them, and \d (digits), \a (letters
 * and digits), \w (these and '_') or \A (punctuation); all other text stays unchanged. A range
 * includes both ends, whereas OpenShift excludes the last one (its ExpressionValueGenerator,
 * library-go). ERR_INVALID; ERR_LIMIT for more than LIMIT_RANDOM_TEXT bytes. */
int random_text_add(struct text *text, const char *pattern, random_bytes_fn random,
		    struct err *err) MUST_USE;

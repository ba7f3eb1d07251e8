/* A certificate that a server made for itself. No authority vouches for it: clients know its key by
 * a pin, as curl's --pinnedpubkey has it: "sha256//", and in base64 the SHA-256 of the public key.
 * Only programs that link libcrypto have it. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Makes a key (P-256) and its certificate, of ten years, unless both files are there: PEM, the key
 * for this user alone. ERR_INVALID where only one of them is; ERR_IO, ERR_SPACE. */
int certificate_ensure(const char *certificate_file, const char *key_file,
		       struct err *err) MUST_USE;
/* The pin of the first certificate of a file. Caller frees. ERR_INVALID, ERR_NOT_FOUND. */
int certificate_pin(const char *certificate_file, char **ret_pin, struct err *err) MUST_USE;

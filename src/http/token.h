/* Tokens, which authenticate a caller: 256 random bits. A server stores only the SHA-256, which
 * suffices because a token cannot be guessed (docs/design/0032). Only programs that link libcrypto
 * have this file. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

#define TOKEN_HASH_SIZE 32

struct token_hash {
	unsigned char bytes[TOKEN_HASH_SIZE];
};

/* "sha256:" and 64 hexadecimal digits, as stored in files. Caller frees. */
char *token_hash_text(const char *token) MUST_USE;
/* Reads such a text. Returns ERR_INVALID for another. */
int token_hash_read(const char *text, struct token_hash *ret_hash, struct err *err) MUST_USE;
bool token_is_hash(const char *text); /* it begins like one */
/* Whether a text is the token of a hash (struct token_hash). Constant time. */
bool token_is_known(const char *given, const void *hash);

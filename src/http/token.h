/* Tokens, which prove who a caller is: 256 random bits. A server keeps the SHA-256 alone, which is
 * enough for what cannot be guessed (docs/design/0032). Only programs that link libcrypto have it.
 */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

#define TOKEN_HASH_SIZE 32

struct token_hash {
	unsigned char bytes[TOKEN_HASH_SIZE];
};

/* 64 hexadecimal digits. Caller frees with mem_free_secret. ERR_IO. */
int token_new(char **ret_token, struct err *err) MUST_USE;
/* "sha256:" and 64 hexadecimal digits, as it is kept in files. Caller frees. */
char *token_hash_text(const char *token) MUST_USE;
/* Of such a text; of any other one, which is a token itself, its hash. ERR_INVALID for a text that
 * begins as a hash and is none. */
int token_hash_read(const char *text, struct token_hash *ret_hash, struct err *err) MUST_USE;
/* Whether a text is the token of a hash (struct token_hash); compared in constant time. */
bool token_is_known(const char *given, const void *hash);

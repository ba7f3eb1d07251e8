#include "http/token.h"

#include "base/mem.h"
#include "base/text.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "sha256:"

static char *hexadecimal(const char *prefix, const unsigned char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t start = strlen(prefix);
	char *text = mem_new(start + 2 * len + 1);

	memcpy(text, prefix, start);
	for (size_t i = 0; i < len; i++) {
		text[start + 2 * i] = digits[bytes[i] >> 4];
		text[start + 2 * i + 1] = digits[bytes[i] & 15];
	}
	return text;
}

static struct token_hash hash_of(const char *token)
{
	struct token_hash hash;

	SHA256((const unsigned char *) token, strlen(token), hash.bytes);
	return hash;
}

char *token_hash_text(const char *token)
{
	struct token_hash hash = hash_of(token);

	return hexadecimal(PREFIX, hash.bytes, sizeof(hash.bytes));
}

bool token_is_hash(const char *text)
{
	return text_starts_with(text, PREFIX);
}

int token_hash_read(const char *text, struct token_hash *ret_hash, struct err *err)
{
	struct token_hash hash;
	size_t len = 0;

	if (!token_is_hash(text) ||
	    !OPENSSL_hexstr2buf_ex(hash.bytes, sizeof(hash.bytes), &len, text + strlen(PREFIX),
				   '\0') ||
	    len != sizeof(hash.bytes))
		return err_set(err, ERR_INVALID,
			       "not the hash of a token (expected " PREFIX
			       " and 64 hexadecimal digits)");
	*ret_hash = hash;
	return 0;
}

bool token_is_known(const char *given, const void *data)
{
	const struct token_hash *hash = data;
	struct token_hash own = hash_of(given);

	return CRYPTO_memcmp(own.bytes, hash->bytes, sizeof(own.bytes)) == 0;
}

#include "base/hash.h"

#include <string.h>

#define PRIME UINT64_C(1099511628211)

uint64_t hash_add(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * PRIME;
	return hash;
}

uint64_t hash_add_text(uint64_t hash, const char *text)
{
	return hash_add(hash, text, strlen(text) + 1);
}

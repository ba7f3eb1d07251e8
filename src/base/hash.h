/* Hashes, none of them against an attacker. FNV-1a, 64 bits, for tables and names.
 *
 * Source: http://www.isthe.com/chongo/tech/comp/fnv/ */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

/* The hash of all bytes so far; begin with HASH_BEGIN. */
uint64_t hash_add(uint64_t hash, const char *bytes, size_t len);
/* Hashes the text and its end, so that "ab", "c" differs from "a", "bc". */
uint64_t hash_add_text(uint64_t hash, const char *text);
/* The same hash of 32 bits. */
uint32_t hash_short(const char *text);

/* SHA-1 (FIPS 180-4), which the WebSocket handshake requires. It is no protection: attackers can
 * find two texts with the same digest. */
#define SHA1_SIZE 20
void sha1(const void *bytes, size_t len, uint8_t ret_digest[SHA1_SIZE]);

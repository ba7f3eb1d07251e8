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

uint32_t hash_short(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char) *text) * 16777619u;
	return hash;
}

/* SHA-1. */

#define BLOCK_SIZE 64
#define LENGTH_SIZE 8
#define ROUNDS 80

static uint32_t rotate(uint32_t word, int n)
{
	return word << n | word >> (32 - n);
}

static void store_big_endian(uint8_t *bytes, uint64_t number, size_t size)
{
	for (size_t i = size; i-- > 0; number >>= 8)
		bytes[i] = (uint8_t) number;
}

/* The function of b, c and d in round `i`, plus its constant. */
static uint32_t mix(size_t i, uint32_t b, uint32_t c, uint32_t d)
{
	if (i < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (i < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (i < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void hash_sha1_block(uint32_t state[5], const uint8_t *block)
{
	uint32_t words[ROUNDS];
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (size_t i = 0; i < 16; i++, block += 4)
		words[i] = (uint32_t) block[0] << 24 | (uint32_t) block[1] << 16 |
			   (uint32_t) block[2] << 8 | block[3];
	for (size_t i = 16; i < ROUNDS; i++)
		words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + words[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sha1(const void *bytes, size_t len, uint8_t ret_digest[SHA1_SIZE])
{
	uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	const uint8_t *block = bytes;
	size_t left = len;

	for (; left >= BLOCK_SIZE; block += BLOCK_SIZE, left -= BLOCK_SIZE)
		hash_sha1_block(state, block);
	/* The remaining bytes, a bit, zeros, and the length in bits: one block or two. */
	uint8_t end[2 * BLOCK_SIZE] = {0};
	size_t size = left + 1 + LENGTH_SIZE > BLOCK_SIZE ? 2 * BLOCK_SIZE : BLOCK_SIZE;

	memcpy(end, block, left);
	end[left] = 0x80;
	store_big_endian(end + size - LENGTH_SIZE, (uint64_t) len * 8, LENGTH_SIZE);
	for (size_t at = 0; at < size; at += BLOCK_SIZE)
		hash_sha1_block(state, end + at);
	for (size_t i = 0; i < 5; i++)
		store_big_endian(ret_digest + 4 * i, state[i], 4);
}

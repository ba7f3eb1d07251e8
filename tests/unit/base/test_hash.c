#include "unit.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdio.h>

/* From the test vectors of FNV's authors. */
TEST(known_hashes)
{
	assert_int_equal(hash_add(HASH_BEGIN, "", 0), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(hash_add(HASH_BEGIN, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	assert_int_equal(hash_add(HASH_BEGIN, "foobar", 6), UINT64_C(0x85944171f73967e8));
}

TEST(parts_and_whole)
{
	assert_int_equal(hash_add(hash_add(HASH_BEGIN, "foo", 3), "bar", 3),
			 hash_add(HASH_BEGIN, "foobar", 6));
	assert_int_not_equal(hash_add_text(hash_add_text(HASH_BEGIN, "ab"), "c"),
			     hash_add_text(hash_add_text(HASH_BEGIN, "a"), "bc"));
}

static void assert_digest(const void *bytes, size_t len, const char *expected)
{
	uint8_t digest[SHA1_SIZE];
	char shown[2 * SHA1_SIZE + 1];

	sha1(bytes, len, digest);
	for (size_t i = 0; i < SHA1_SIZE; i++)
		snprintf(shown + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(shown, expected);
}

/* The examples of FIPS 180. */
TEST(digests_are_those_of_the_standard)
{
	const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char *million CLEANUP(mem_free_text) = mem_new(1000000);

	memset(million, 'a', 1000000);
	assert_digest("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_digest("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_digest(two_blocks, 56, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	assert_digest(million, 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

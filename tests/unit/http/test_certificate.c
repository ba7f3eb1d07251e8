
#include "base/mem.h"
#include "http/certificate.h"
#include "io/random.h"
#include "unit.h"

TEST(test_a_new_token_is_known_by_its_hash)
{
	char *token CLEANUP(mem_free_secret) = random_token();
	char *other CLEANUP(mem_free_secret) = random_token();
	struct err err = {0};

	assert_int_equal(strlen(token), 64);
	assert_string_not_equal(token, other);
	char *text CLEANUP(mem_free_text) = token_hash_text(token);
	struct token_hash hash;

	assert_int_equal(token_hash_read(text, &hash, &err), 0);
	assert_true(token_is_known(token, &hash));
	assert_false(token_is_known(other, &hash));
	assert_false(token_is_known("", &hash));
	assert_false(token_is_known(text, &hash)); /* who reads the hash has no token */
}

TEST(test_a_hash_has_all_digits)
{
	static const char *const half_hashes[] = {"sha256:", "sha256:00", "sha256:zz",
						  "a password of 16"};
	struct token_hash hash;
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(half_hashes); i++)
		assert_int_equal(token_hash_read(half_hashes[i], &hash, &err), ERR_INVALID);
}

TEST(test_the_hash_is_what_sha256sum_prints)
{
	char *text CLEANUP(mem_free_text) = token_hash_text("abc"); /* FIPS 180-2, B.1 */

	assert_string_equal(text, "sha256:ba7816bf8f01cfea414140de5dae2223"
				  "b00361a396177a9cb410ff61f20015ad");
}

/* RFC 8032 keys and SHA-256 as `openssl pkey -pubout` and Python's hmac compute them: agents of two
 * versions have the same key. */
TEST(test_a_token_stands_for_one_key)
{
	static const char token[] = "0123456789abcdef0123456789abcdef"
				    "0123456789abcdef0123456789abcdef";

	char *pin CLEANUP(mem_free_text) = certificate_pin_of_secret(token);
	char *other CLEANUP(mem_free_text) = certificate_pin_of_secret(token + 1);

	assert_string_equal(pin, "sha256//jtE4Y3TLeN1ARSF3jz601woeZB5QRqBhOsfHcFrzN2k=");
	assert_string_not_equal(pin, other);
}

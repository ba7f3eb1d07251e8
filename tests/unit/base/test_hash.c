#include "unit.h"

#include "base/hash.h"

/* From the test vectors of FNV's authors. */
static void known_hashes(void **state)
{
	(void) state;
	assert_int_equal(hash_add(HASH_BEGIN, "", 0), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(hash_add(HASH_BEGIN, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	assert_int_equal(hash_add(HASH_BEGIN, "foobar", 6), UINT64_C(0x85944171f73967e8));
}

static void parts_and_whole(void **state)
{
	(void) state;
	assert_int_equal(hash_add(hash_add(HASH_BEGIN, "foo", 3), "bar", 3),
			 hash_add(HASH_BEGIN, "foobar", 6));
	assert_int_not_equal(hash_add_text(hash_add_text(HASH_BEGIN, "ab"), "c"),
			     hash_add_text(hash_add_text(HASH_BEGIN, "a"), "bc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_hashes),
		cmocka_unit_test(parts_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

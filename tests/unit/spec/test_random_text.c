#include "unit.h"

#include "base/mem.h"
#include "spec/limits.h"
#include "spec/template.h"

/* 0, 1, 2, … 255, 0, … from the beginning of each test. */
static unsigned char next_byte;

static void count_up(void *bytes, size_t len)
{
	unsigned char *at = bytes;

	while (len-- > 0)
		*at++ = next_byte++;
}

static void assert_made(const char *pattern, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	next_byte = 0;
	if (random_text_add(&text, pattern, count_up, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(text_of(&text), expected);
}

static void assert_refused(const char *pattern, enum err_code code, const char *sentence)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err = {0};

	next_byte = 0;
	assert_int_equal(random_text_add(&text, pattern, count_up, &err), code);
	if (!strstr(err.text, sentence))
		fail_msg("%s", err.text);
	assert_int_equal(text.len, 0);
}

TEST(a_set_with_a_count_becomes_so_many_of_its_characters)
{
	assert_made("", "");
	assert_made("test[0-9]{1}x", "test0x");
	assert_made("[0-1]{8}", "01010101");
	assert_made("0x[A-F0-9]{4}", "0xABCD");
	assert_made("[abc]{7}", "abcabca");
	assert_made("[y-B]{4}[\\d]{3}", "yzAB456");
	assert_made("[\\a]{63}", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789a");
	assert_made("[a-cb-d]{5}", "abcda");
}

TEST(what_is_no_set_with_a_count_stays)
{
	assert_made("a-b", "a-b");
	assert_made("[a-z]", "[a-z]");
	assert_made("[a-z]{}", "[a-z]{}");
	assert_made("[]{3}[.]{3}[a", "[]{3}[.]{3}[a");
	assert_made("[\\A]{3}", "~!@");
}

/* Of 256 bytes 250 are whole rounds of ten: the last six are drawn again. */
TEST(all_characters_are_as_likely)
{
	struct text text CLEANUP(text_done) = {0};
	int counts[10] = {0};

	next_byte = 0;
	for (int i = 0; i < 25; i++)
		assert_int_equal(random_text_add(&text, "[0-9]{10}", count_up, NULL), 0);
	assert_int_equal(random_text_add(&text, "[0-9]{10}", count_up, NULL), 0);
	for (size_t i = 0; i < text.len; i++)
		counts[text.bytes[i] - '0']++;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		assert_int_equal(counts[i], 26);
}

TEST(a_set_that_is_wrong_is_refused)
{
	struct text long_pattern CLEANUP(text_done) = {0};

	assert_refused("[z-a]{3}", ERR_INVALID, "'[z-a]' is not a set of characters");
	assert_refused("[\\x]{3}", ERR_INVALID, "'[\\x]' is not a set of characters");
	assert_refused("[a\\]{3}", ERR_INVALID, "is not a set of characters");
	assert_refused("[a-]{3}", ERR_INVALID, "is not a set of characters");
	assert_refused("[a]{0}", ERR_INVALID, "'{0}': a set must produce 1 to 255 characters");
	assert_refused("[a]{256}", ERR_INVALID, "'{256}'");
	assert_refused("[a]{99999999999999999999}", ERR_INVALID, "1 to 255");
	for (int i = 0; i < 20; i++)
		text_add(&long_pattern, "[a]{255}");
	assert_refused(text_of(&long_pattern), ERR_LIMIT, "more than 4096 characters");
}

/* Base64 both ways: RFC 4648's own examples, and what is none. */
#include "unit.h"

#include "base/base64.h"
#include "base/mem.h"

static const struct {
	const char *bytes, *text;
} pairs[] = {
	{"", ""},
	{"f", "Zg=="},
	{"fo", "Zm8="},
	{"foo", "Zm9v"},
	{"foob", "Zm9vYg=="},
	{"fooba", "Zm9vYmE="},
	{"foobar", "Zm9vYmFy"},
	{"\xfb\xff\xbf", "+/+/"},
};

TEST(examples_of_the_rfc_read_and_write)
{
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct text text CLEANUP(text_done) = {0};
		char *bytes CLEANUP(mem_free_text) = NULL;
		size_t len = 0;

		base64_add(&text, pairs[i].bytes, strlen(pairs[i].bytes));
		assert_string_equal(text_of(&text), pairs[i].text);
		assert_int_equal(
			base64_read(pairs[i].text, strlen(pairs[i].text), &bytes, &len, NULL), 0);
		assert_int_equal(len, strlen(pairs[i].bytes));
		assert_string_equal(bytes, pairs[i].bytes);
	}
}

TEST(every_byte_comes_back_from_every_length)
{
	unsigned char bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char) (i * 7);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		struct text text CLEANUP(text_done) = {0};
		char *again CLEANUP(mem_free_text) = NULL;
		size_t len_again = 0;

		base64_add(&text, bytes, len);
		assert_int_equal(base64_read(text_of(&text), text.len, &again, &len_again, NULL),
				 0);
		assert_int_equal(len_again, len);
		assert_memory_equal(again, bytes, len);
	}
}

TEST(lines_may_be_broken)
{
	static const char text[] = "Zm9v\r\nYmFy\n";
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	assert_int_equal(base64_read(text, strlen(text), &bytes, &len, NULL), 0);
	assert_string_equal(bytes, "foobar");
}

TEST(what_is_no_base64_is_refused_and_not_shown)
{
	static const char *const wrong[] = {
		"Zg",      "Zg=",      "Z",     "Z===", "====",     "Zm9v=",   "Zg==Zg==",
		"Zm9v Zg", "Zm-_Zm9v", "Zm9=v", "=Zm9", "Zm9v\tYg", "secret!",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		char *bytes CLEANUP(mem_free_text) = NULL;
		size_t len = 0;
		struct err err = {0};

		assert_int_equal(base64_read(wrong[i], strlen(wrong[i]), &bytes, &len, &err),
				 ERR_INVALID);
		assert_null(bytes);
		assert_null(strstr(err.text, wrong[i]));
	}
}

TEST(the_alphabet_for_urls_has_no_padding)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	char *none CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	assert_int_equal(base64_read_url("-_-_Zg", 6, &bytes, &len, NULL), 0);
	assert_int_equal(len, 4);
	assert_memory_equal(bytes, "\xfb\xff\xbf\x66", 4);
	assert_int_equal(base64_read_url("Zg==", 4, &none, &len, NULL), ERR_INVALID);
	assert_int_equal(base64_read_url("Zm9vY", 5, &none, &len, NULL), ERR_INVALID);
}

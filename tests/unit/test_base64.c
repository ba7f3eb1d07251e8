#include "unit.h"

#include "base/base64.h"

static void the_examples_of_the_rfc_come_out(void **state)
{
	(void) state;
	static const char *const examples[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"\xff\xfe\xfb", "//77"},
	};

	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		struct text text CLEANUP(text_done) = {0};

		base64_add(&text, examples[i][0], strlen(examples[i][0]));
		assert_string_equal(text_of(&text), examples[i][1]);
	}
}

static void zero_bytes_are_bytes(void **state)
{
	(void) state;
	struct text text CLEANUP(text_done) = {0};

	base64_add(&text, "\0\0", 2);
	assert_string_equal(text_of(&text), "AAA=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_rfc_come_out),
		cmocka_unit_test(zero_bytes_are_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

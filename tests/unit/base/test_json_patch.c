#include "unit.h"

#include "base/json_patch.h"

static struct json *read(const char *text)
{
	struct json *value = NULL;

	assert_int_equal(json_read(text, strlen(text), &value, NULL), 0);
	return value;
}

/* RFC 7396, appendix A: every example whose target json_read takes. */
static void the_examples_of_the_standard_come_out(void **state)
{
	(void) state;
	static const char *const rows[][3] = {
		{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
		{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
		{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
		{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
		 "{\"a\":{\"b\":\"d\"}}"},
		{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
		{"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
		{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
		{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
		{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct json *target CLEANUP(json_cleanup) = read(rows[i][0]);
		struct json *patch CLEANUP(json_cleanup) = read(rows[i][1]);
		struct json *wanted CLEANUP(json_cleanup) = read(rows[i][2]);
		struct json *result CLEANUP(json_cleanup) = json_patched(target, patch);

		assert_true(json_equals(result, wanted));
	}
}

static void the_target_stays_as_it_was(void **state)
{
	(void) state;
	struct json *target CLEANUP(json_cleanup) = read("{\"a\":{\"b\":1}}");
	struct json *copy CLEANUP(json_cleanup) = json_new_copy(target);
	struct json *patch CLEANUP(json_cleanup) = read("{\"a\":{\"b\":2,\"c\":3}}");
	struct json *result CLEANUP(json_cleanup) = json_patched(target, patch);

	assert_true(json_equals(target, copy));
	assert_false(json_equals(result, copy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_standard_come_out),
		cmocka_unit_test(the_target_stays_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

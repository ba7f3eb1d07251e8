#include "unit.h"

#include "kube/created.h"

static bool was_created(const char *sent_text, const char *found_text)
{
	struct json *sent CLEANUP(json_cleanup) = NULL;
	struct json *found CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(sent_text, strlen(sent_text), &sent, NULL), 0);
	assert_int_equal(json_read(found_text, strlen(found_text), &found, NULL), 0);
	return kube_was_created(sent, found);
}

static void a_server_may_add_to_what_was_sent(void **state)
{
	(void) state;
	assert_true(was_created(
		"{\"metadata\":{\"labels\":{\"a\":\"1\"},"
		"\"ownerReferences\":[{\"uid\":\"u\"}]}}",
		"{\"metadata\":{\"labels\":{\"b\":\"2\",\"a\":\"1\"},"
		"\"ownerReferences\":[{\"uid\":\"v\"},{\"uid\":\"u\"}],\"uid\":\"x\"}}"));
}

static void another_mark_is_another_object(void **state)
{
	(void) state;
	assert_false(was_created("{\"metadata\":{\"labels\":{\"a\":\"1\"}}}",
				 "{\"metadata\":{\"labels\":{\"a\":\"2\"}}}"));
	assert_false(was_created("{\"metadata\":{\"annotations\":{\"a\":\"1\"}}}",
				 "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}"));
	assert_false(was_created("{\"metadata\":{\"ownerReferences\":[{\"uid\":\"u\"}]}}",
				 "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"v\"}]}}"));
}

static void what_has_no_mark_cannot_be_told_apart(void **state)
{
	(void) state;
	assert_false(
		was_created("{\"metadata\":{\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\"}}"));
}

static bool was_patched(const char *patch_text, const char *found_text)
{
	struct json *patch CLEANUP(json_cleanup) = NULL;
	struct json *found CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(patch_text, strlen(patch_text), &patch, NULL), 0);
	assert_int_equal(json_read(found_text, strlen(found_text), &found, NULL), 0);
	return kube_was_patched(patch, found);
}

static void what_a_patch_wants_is_so_at_any_version(void **state)
{
	const char *patch = "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{\"a\":\"1\","
			    "\"b\":null}}";

	(void) state;
	assert_true(was_patched(patch, "{\"metadata\":{\"resourceVersion\":\"8\",\"name\":\"n\"},"
				       "\"data\":{\"a\":\"1\",\"c\":\"2\"}}"));
	assert_false(was_patched(patch, "{\"metadata\":{},\"data\":{\"a\":\"2\"}}"));
	assert_false(was_patched(patch, "{\"metadata\":{},\"data\":{\"a\":\"1\",\"b\":\"3\"}}"));
	assert_false(was_patched(patch, "{}"));
}

static void lists_of_a_patch_are_whole(void **state)
{
	(void) state;
	assert_true(was_patched("{\"a\":[1,2]}", "{\"a\":[1,2]}"));
	assert_false(was_patched("{\"a\":[1]}", "{\"a\":[1,2]}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_may_add_to_what_was_sent),
		cmocka_unit_test(another_mark_is_another_object),
		cmocka_unit_test(what_has_no_mark_cannot_be_told_apart),
		cmocka_unit_test(what_a_patch_wants_is_so_at_any_version),
		cmocka_unit_test(lists_of_a_patch_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

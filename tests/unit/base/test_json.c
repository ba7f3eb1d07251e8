#include "unit_json.h"

#include "base/json.h"
#include "base/mem.h"

TEST(what_was_read_is_written_the_same)
{
	static const char *const texts[] = {
		"null",
		"true",
		"-9223372036854775808",
		"0.1",
		"1e+100",
		"\"\"",
		"\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u0080\\u009f/"
		"\xc2\xa0\xc3\xa9\xf0\x9f\x98\x80\"",
		"[]",
		"{}",
		"{\"z\":1,\"a\":[1,2.5,null,false,{\"b\":\"c\"}],\"m\":{}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct json *value CLEANUP(json_cleanup) = json_of(texts[i]);

		assert_json(value, texts[i]);
	}
}

TEST(pretty_text_is_indented_by_two)
{
	struct json *value CLEANUP(json_cleanup) = json_of("{\"a\":[1,{}],\"b\":[]}");
	struct text text CLEANUP(text_done) = {0};

	json_add_pretty(&text, value);
	assert_string_equal(text_of(&text),
			    "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n");
}

TEST(faults_have_their_place)
{
	static const struct {
		const char *text;
		const char *place;
	} table[] = {
		{"", "line 1, column 0: "},
		{"{\n  \"a\": tru\n}", "line 2, column 10: "},
		{"{\"a\":1,\"a\":2}", "line 1, column 10: duplicate object key"},
		{"[1] 2", "line 1, column 5: "},
		{"[\"\xff\"]", "line 1, column 2: "},
		{"[\"\\u0000\"]", "line 1, column 9: "},
		{"[1,]", "line 1, column 4: "},
		{"[9223372036854775808]", "line 1, column 20: "},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct json *value = NULL;
		struct err err = {0};

		assert_int_equal(json_read(table[i].text, strlen(table[i].text), &value, &err),
				 ERR_INVALID);
		assert_null(value);
		if (strncmp(err.text, table[i].place, strlen(table[i].place)) != 0)
			fail_msg("'%s' does not begin with '%s'", err.text, table[i].place);
	}
}

TEST(nesting_has_a_limit)
{
	struct text text CLEANUP(text_done) = {0};
	struct json *value CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	text_add(&text, "[\"[[\\\"[\",\n");
	for (int i = 0; i < JSON_DEPTH_LIMIT; i++)
		text_add_char(&text, '[');
	assert_int_equal(json_read(text_of(&text), text.len, &value, &err), ERR_LIMIT);
	assert_string_equal(err.text, "line 2, column 100: nested more than 100 levels deep");

	text_clear(&text);
	for (int i = 0; i < JSON_DEPTH_LIMIT; i++)
		text_add_char(&text, '[');
	for (int i = 0; i < JSON_DEPTH_LIMIT; i++)
		text_add_char(&text, ']');
	assert_int_equal(json_read(text_of(&text), text.len, &value, &err), 0);
}

TEST(a_hostile_value_does_not_hide_those_beside_it)
{
	static const struct {
		const char *text, *expected;
	} table[] = {
		{"{\"a\":\"\\u0000x\\\\u0000\",\"b\":1}",
		 "{\"a\":\"\xef\xbf\xbdx\\\\u0000\",\"b\":1}"},
		{"{\"\\u0000\":1,\"\\ufffd\":2,\"b\":true}", "{\"\xef\xbf\xbd\":2,\"b\":true}"},
		{"[9223372036854775808,-1]", "[9.223372036854776e+18,-1]"},
		{"[-100000000000000000000, 1]", "[-1e+20,1]"},
		{"[1234567890123456789012.5,\"\\u0000\"]",
		 "[1.2345678901234568e+21,\"\xef\xbf\xbd\"]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct json *value CLEANUP(json_cleanup) = NULL;
		struct err err = {0};

		assert_int_equal(
			json_read_repaired(table[i].text, strlen(table[i].text), &value, &err), 0);
		assert_int_equal(err.code, 0);
		assert_json(value, table[i].expected);
	}
}

TEST(what_a_hostile_value_nests_too_deeply_is_null)
{
	struct text text CLEANUP(text_done) = {0};
	struct json *value CLEANUP(json_cleanup) = NULL;
	const struct json *inner;

	text_add(&text, "[");
	for (int i = 0; i < 2 * JSON_DEPTH_LIMIT; i++)
		text_add(&text, "[\"[\",");
	text_add(&text, "1");
	for (int i = 0; i < 2 * JSON_DEPTH_LIMIT; i++)
		text_add(&text, ",{}]");
	text_add(&text, ",\"beside\"]");
	assert_int_equal(json_read_repaired(text_of(&text), text.len, &value, NULL), 0);
	assert_string_equal(json_as_string(json_at(value, 1), ""), "beside");
	inner = value;
	for (int i = 1; i < JSON_DEPTH_LIMIT; i++)
		inner = json_at(inner, i == 1 ? 0 : 1);
	assert_json(inner, "[\"[\",null,null]");
}

TEST(what_is_no_json_is_not_mended)
{
	static const char *const table[] = {
		"", "\"", "\"\\", "[\"\\u0000]", "]]", "{\"a\\u0000\"}", "[1] 2"};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct json *value = NULL;
		struct err err = {0};

		assert_int_equal(json_read_repaired(table[i], strlen(table[i]), &value, &err),
				 ERR_INVALID);
		assert_null(value);
		assert_true(err.text[0] != '\0');
	}
}

TEST(foreign_bytes_in_strings_are_replaced)
{
	struct json *value CLEANUP(json_cleanup) = json_new_string("a\xff"
								   "b");

	assert_string_equal(json_as_string(value, ""), "a\xef\xbf\xbd"
						       "b");
	struct json *object CLEANUP(json_cleanup) = json_new_object();

	json_set_bool(object, "\xfe", true);
	assert_json(object, "{\"\xef\xbf\xbd\":true}");
}

TEST(a_value_of_another_type_gives_the_otherwise)
{
	struct json *value CLEANUP(json_cleanup) =
		json_of("{\"i\":3,\"r\":1.5,\"s\":\"t\",\"b\":true}");

	assert_int_equal(json_as_integer(json_get(value, "i"), -1), 3);
	assert_int_equal(json_as_integer(json_get(value, "r"), -1), -1);
	assert_int_equal(json_as_integer(json_get(value, "none"), -1), -1);
	assert_true(json_as_real(json_get(value, "i"), 0) == 3.0);
	assert_true(json_as_real(json_get(value, "r"), 0) == 1.5);
	assert_string_equal(json_as_string(json_get(value, "s"), "?"), "t");
	assert_string_equal(json_as_string(json_get(value, "i"), "?"), "?");
	assert_true(json_as_bool(json_get(value, "b"), false));
	assert_false(json_as_bool(json_get(value, "s"), false));
	assert_null(json_get(json_get(value, "i"), "deeper"));
	assert_int_equal(json_type_of(NULL), JSON_NULL);
	assert_int_equal(json_count(NULL), 0);
}

TEST(members_keep_their_order)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();

	json_set_integer(object, "z", 1);
	json_set_string(object, "a", "x");
	json_set_string(object, "none", NULL);
	json_set_integer(object, "m", 2);
	json_set_integer(object, "z", 3);
	assert_json(object, "{\"z\":3,\"a\":\"x\",\"m\":2}");
	json_remove(object, "a");
	json_remove(object, "a");
	const char *key = NULL;
	struct json *value;

	assert_true(json_next(object, &key, &value));
	assert_string_equal(key, "z");
	assert_true(json_next(object, &key, &value));
	assert_string_equal(key, "m");
	assert_false(json_next(object, &key, &value));
}

TEST(paths_are_followed_and_made)
{
	struct json *root CLEANUP(json_cleanup) = json_new_object();

	json_set_integer(json_object_at(json_object_at(root, "spec"), "runPolicy"), "n", 4);
	assert_int_equal(json_as_integer(json_get_path(root, "spec", "runPolicy", "n", NULL), 0),
			 4);
	assert_null(json_get_path(root, "spec", "x", "n", NULL));
	assert_ptr_equal(json_get_path(root, NULL), root);
}

TEST(a_copy_is_its_own)
{
	struct json *value CLEANUP(json_cleanup) = json_of("{\"a\":[1,2]}");
	struct json *copy CLEANUP(json_cleanup) = json_new_copy(value);

	assert_true(json_equals(value, copy));
	json_append(json_get(copy, "a"), json_new_null());
	assert_false(json_equals(value, copy));
	assert_int_equal(json_count(json_get(value, "a")), 2);
	assert_true(json_equals(NULL, json_at(json_get(copy, "a"), 2)));
	assert_false(json_equals(NULL, copy));
}

TEST(numbers_without_end_become_null)
{
	volatile double zero = 0;
	struct json *value CLEANUP(json_cleanup) = json_new_real(1 / zero);

	assert_true(json_is(value, JSON_NULL));
}

TEST(a_member_is_made_a_list_where_it_is_none)
{
	struct json *root CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0};

	json_set_integer(root, "b", 1);
	json_append(json_array_at(root, "a"), json_new_integer(1));
	json_append(json_array_at(root, "a"), json_new_integer(2));
	json_append(json_array_at(root, "b"), json_new_integer(3));
	json_add_compact(&text, root);
	assert_string_equal(text_of(&text), "{\"b\":[3],\"a\":[1,2]}");
}

TEST(a_secret_value_is_overwritten_when_it_goes)
{
	static const char text[] = "{\"a\": [\"secret\", {\"b\": \"more\"}], \"c\": 1}";
	struct json *value = NULL;

	assert_int_equal(json_read(text, strlen(text), &value, NULL), 0);
	struct json *list CLEANUP(json_cleanup) = json_ref(json_get(value, "a"));

	json_free_secret(value);
	assert_string_equal(json_as_string(json_at(list, 0), ""), "");
	assert_string_equal(json_as_string(json_get(json_at(list, 1), "b"), ""), "");
	json_free_secret(NULL);
}

/* RFC 7396, appendix A: every example whose target json_read takes. */
TEST(the_examples_of_the_standard_come_out)
{
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
		struct json *target CLEANUP(json_cleanup) = json_of(rows[i][0]);
		struct json *patch CLEANUP(json_cleanup) = json_of(rows[i][1]);
		struct json *wanted CLEANUP(json_cleanup) = json_of(rows[i][2]);
		struct json *result CLEANUP(json_cleanup) = json_patched(target, patch);

		assert_true(json_equals(result, wanted));
	}
}

TEST(the_target_stays_as_it_was)
{
	struct json *target CLEANUP(json_cleanup) = json_of("{\"a\":{\"b\":1}}");
	struct json *copy CLEANUP(json_cleanup) = json_new_copy(target);
	struct json *patch CLEANUP(json_cleanup) = json_of("{\"a\":{\"b\":2,\"c\":3}}");
	struct json *result CLEANUP(json_cleanup) = json_patched(target, patch);

	assert_true(json_equals(target, copy));
	assert_false(json_equals(result, copy));
}

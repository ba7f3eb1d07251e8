#include "unit.h"

#include "base/protobuf.h"

static void assert_bytes(const struct text *message, const char *wanted, size_t len)
{
	assert_int_equal(message->len, len);
	assert_memory_equal(text_of(message), wanted, len);
}

/* The examples of protobuf.dev/programming-guides/encoding. */
static void the_examples_of_the_guide_come_out(void **state)
{
	(void) state;
	struct text message CLEANUP(text_done) = {0};
	struct text inner CLEANUP(text_done) = {0};

	protobuf_add_number(&message, 1, 150);
	assert_bytes(&message, "\x08\x96\x01", 3);
	text_clear(&message);
	protobuf_add_text(&message, 2, "testing");
	assert_bytes(&message, "\x12\x07testing", 9);
	text_clear(&message);
	protobuf_add_number(&inner, 1, 150);
	protobuf_add_message(&message, 3, &inner);
	assert_bytes(&message, "\x1a\x03\x08\x96\x01", 5);
	text_clear(&message);
	protobuf_add_number(&message, 1, -2);
	assert_bytes(&message, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void a_number_with_a_fraction_is_eight_bytes_the_lowest_first(void **state)
{
	(void) state;
	struct text message CLEANUP(text_done) = {0};

	protobuf_add_double(&message, 1, 0.5);
	assert_bytes(&message, "\x09\0\0\0\0\0\0\xe0\x3f", 9);
}

static void what_is_written_is_read(void **state)
{
	(void) state;
	struct text message CLEANUP(text_done) = {0};
	struct protobuf_field field;
	double value;

	protobuf_add_number(&message, 1, INT64_MIN);
	protobuf_add_bytes(&message, 16, "a\0b", 3);
	protobuf_add_double(&message, 536870911, -1.25);
	struct protobuf_rest rest = {text_of(&message), message.len};

	assert_int_equal(protobuf_next(&rest, &field, NULL), 1);
	assert_int_equal(field.number, 1);
	assert_int_equal(field.wire, PROTOBUF_NUMBER);
	assert_int_equal((int64_t) field.value, INT64_MIN);
	assert_int_equal(protobuf_next(&rest, &field, NULL), 1);
	assert_int_equal(field.number, 16);
	assert_int_equal(field.len, 3);
	assert_memory_equal(field.bytes, "a\0b", 3);
	assert_int_equal(protobuf_next(&rest, &field, NULL), 1);
	assert_int_equal(field.number, 536870911);
	memcpy(&value, &field.value, sizeof(value));
	assert_true(value == -1.25);
	assert_int_equal(protobuf_next(&rest, &field, NULL), 0);
}

static void a_fixed_field_of_four_bytes_is_read(void **state)
{
	(void) state;
	struct protobuf_rest rest = {"\x0d\x01\x02\x00\x80", 5};
	struct protobuf_field field;

	assert_int_equal(protobuf_next(&rest, &field, NULL), 1);
	assert_int_equal(field.wire, PROTOBUF_FIXED32);
	assert_int_equal(field.value, 0x80000201);
}

static void a_message_that_is_broken_is_refused(void **state)
{
	(void) state;
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{"\x08", 1}, /* no value */
		{"\x08\x96", 2}, /* a number without its end */
		{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}, /* more than 64 bits */
		{"\x12\x05"
		 "abc",
		 5}, /* fewer bytes than it says */
		{"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}, /* as many as can be said */
		{"\x09\x01\x02", 3},
		{"\x0d\x01\x02", 3},
		{"\x0b\x0c", 2}, /* a group */
		{"\x00\x01", 2}, /* field 0 */
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 11}, /* field 2^61 - 1 */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct protobuf_rest rest = {rows[i].bytes, rows[i].len};
		struct protobuf_field field;
		struct err err = {0};

		assert_int_equal(protobuf_next(&rest, &field, &err), ERR_INVALID);
		assert_string_not_equal(err.text, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_guide_come_out),
		cmocka_unit_test(a_number_with_a_fraction_is_eight_bytes_the_lowest_first),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_fixed_field_of_four_bytes_is_read),
		cmocka_unit_test(a_message_that_is_broken_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "base/protobuf.h"

static void assert_bytes(const struct text *message, const char *wanted, size_t len)
{
	assert_int_equal(message->len, len);
	assert_memory_equal(text_of(message), wanted, len);
}

/* The examples of protobuf.dev/programming-guides/encoding. */
TEST(the_examples_of_the_guide_come_out)
{
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

TEST(a_number_with_a_fraction_is_eight_bytes_the_lowest_first)
{
	struct text message CLEANUP(text_done) = {0};

	protobuf_add_double(&message, 1, 0.5);
	assert_bytes(&message, "\x09\0\0\0\0\0\0\xe0\x3f", 9);
}

TEST(every_number_has_its_bytes)
{
	struct text message CLEANUP(text_done) = {0};

	protobuf_add_number(&message, 1, 0);
	protobuf_add_number(&message, 1, 127);
	protobuf_add_number(&message, 1, 128);
	assert_bytes(&message, "\x08\0\x08\x7f\x08\x80\x01", 7);
	text_clear(&message);
	protobuf_add_number(&message, 1, INT64_MIN);
	assert_bytes(&message, "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
	text_clear(&message);
	protobuf_add_number(&message, 536870911, 1); /* the last field there can be */
	assert_bytes(&message, "\xf8\xff\xff\xff\x0f\x01", 6);
}

TEST(bytes_may_be_any_and_many)
{
	struct text message CLEANUP(text_done) = {0};
	char many[300] = {0};

	protobuf_add_bytes(&message, 16, "a\0b", 3);
	assert_bytes(&message,
		     "\x82\x01\x03"
		     "a\0b",
		     6);
	text_clear(&message);
	protobuf_add_bytes(&message, 1, many, sizeof(many));
	assert_int_equal(message.len, 3 + sizeof(many));
	assert_memory_equal(text_of(&message), "\x0a\xac\x02", 3);
}

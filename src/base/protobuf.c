#include "base/protobuf.h"

#include <assert.h>

#define FIELD_MAX ((1 << 29) - 1)

/* Encoding of a field's value. */
enum wire { WIRE_NUMBER = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void add_varint(struct text *message, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		text_add_char(message, (char) (value | 0x80));
	text_add_char(message, (char) value);
}

static void add_tag(struct text *message, int field, enum wire wire)
{
	assert(field > 0 && field <= FIELD_MAX);
	add_varint(message, (uint64_t) field << 3 | wire);
}

void protobuf_add_number(struct text *message, int field, int64_t value)
{
	add_tag(message, field, WIRE_NUMBER);
	add_varint(message, (uint64_t) value);
}

void protobuf_add_double(struct text *message, int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	add_tag(message, field, WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		text_add_char(message, (char) (bits >> 8 * i));
}

void protobuf_add_text(struct text *message, int field, const char *text)
{
	protobuf_add_bytes(message, field, text, strlen(text));
}

void protobuf_add_bytes(struct text *message, int field, const void *bytes, size_t len)
{
	add_tag(message, field, WIRE_BYTES);
	add_varint(message, len);
	text_add_bytes(message, bytes, len);
}

void protobuf_add_message(struct text *message, int field, const struct text *part)
{
	protobuf_add_bytes(message, field, text_of(part), part->len);
}

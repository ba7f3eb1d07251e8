#include "base/protobuf.h"

#include <assert.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes of 64 bits, 7 in each */
#define FIELD_MAX ((1 << 29) - 1)

static void add_varint(struct text *message, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		text_add_char(message, (char) (value | 0x80));
	text_add_char(message, (char) value);
}

static void add_tag(struct text *message, int field, enum protobuf_wire wire)
{
	assert(field > 0 && field <= FIELD_MAX);
	add_varint(message, (uint64_t) field << 3 | wire);
}

void protobuf_add_number(struct text *message, int field, int64_t value)
{
	add_tag(message, field, PROTOBUF_NUMBER);
	add_varint(message, (uint64_t) value);
}

void protobuf_add_double(struct text *message, int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	add_tag(message, field, PROTOBUF_FIXED64);
	for (int i = 0; i < 8; i++)
		text_add_char(message, (char) (bits >> 8 * i));
}

void protobuf_add_text(struct text *message, int field, const char *text)
{
	protobuf_add_bytes(message, field, text, strlen(text));
}

void protobuf_add_bytes(struct text *message, int field, const void *bytes, size_t len)
{
	add_tag(message, field, PROTOBUF_BYTES);
	add_varint(message, len);
	text_add_bytes(message, bytes, len);
}

void protobuf_add_message(struct text *message, int field, const struct text *part)
{
	protobuf_add_bytes(message, field, text_of(part), part->len);
}

static int complain_of_end(struct err *err)
{
	return err_set(err, ERR_INVALID, "a protobuf message is cut off");
}

static void skip(struct protobuf_rest *rest, size_t len)
{
	rest->bytes += len;
	rest->len -= len;
}

static int take_varint(struct protobuf_rest *rest, uint64_t *ret_value, struct err *err)
{
	uint64_t value = 0;

	for (size_t i = 0; i < rest->len && i < VARINT_MAX; i++) {
		unsigned char byte = (unsigned char) rest->bytes[i];

		value |= (uint64_t) (byte & 0x7f) << 7 * i;
		if (byte & 0x80)
			continue;
		skip(rest, i + 1);
		*ret_value = value;
		return 0;
	}
	if (rest->len < VARINT_MAX)
		return complain_of_end(err);
	return err_set(err, ERR_INVALID, "a number of a protobuf message is too long");
}

/* Little-endian, `size` bytes. */
static int take_fixed(struct protobuf_rest *rest, size_t size, uint64_t *ret_value, struct err *err)
{
	uint64_t value = 0;

	if (rest->len < size)
		return complain_of_end(err);
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t) (unsigned char) rest->bytes[i] << 8 * i;
	skip(rest, size);
	*ret_value = value;
	return 0;
}

static int take_bytes(struct protobuf_rest *rest, struct protobuf_field *field, struct err *err)
{
	uint64_t len = 0;

	if (take_varint(rest, &len, err))
		return ERR_INVALID;
	if (len > rest->len)
		return complain_of_end(err);
	field->bytes = rest->bytes;
	field->len = (size_t) len;
	skip(rest, field->len);
	return 0;
}

static int take_value(struct protobuf_rest *rest, struct protobuf_field *field, struct err *err)
{
	switch (field->wire) {
	case PROTOBUF_NUMBER:
		return take_varint(rest, &field->value, err);
	case PROTOBUF_FIXED64:
		return take_fixed(rest, 8, &field->value, err);
	case PROTOBUF_FIXED32:
		return take_fixed(rest, 4, &field->value, err);
	case PROTOBUF_BYTES:
		return take_bytes(rest, field, err);
	}
	return err_set(err, ERR_INVALID, "field %d of a protobuf message is of no known kind",
		       field->number);
}

int protobuf_next(struct protobuf_rest *rest, struct protobuf_field *ret_field, struct err *err)
{
	struct protobuf_field field = {0};
	uint64_t tag = 0;

	if (rest->len == 0)
		return 0;
	if (take_varint(rest, &tag, err))
		return ERR_INVALID;
	if (tag >> 3 == 0 || tag >> 3 > FIELD_MAX)
		return err_set(err, ERR_INVALID, "a field of a protobuf message has no number");
	field.number = (int) (tag >> 3);
	field.wire = (enum protobuf_wire)(tag & 7);
	if (take_value(rest, &field, err))
		return ERR_INVALID;
	*ret_field = field;
	return 1;
}

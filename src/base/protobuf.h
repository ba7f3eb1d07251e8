/* Protocol Buffers on the wire: enough to write TensorFlow's small messages, and to read a field
 * of one. A message under way is a `struct text` of bytes.
 *
 * Source: protobuf.dev/programming-guides/encoding. Fields are written as given: a field of proto3
 * that has its default value (0, "", false) is left out by the caller, as protobuf itself does. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* int32, int64, uint32, uint64, bool and enums; a negative number is given as int64_t, which is how
 * int32 is written too. */
void protobuf_add_number(struct text *message, int field, int64_t value);
void protobuf_add_double(struct text *message, int field, double value);
/* string, bytes, and messages within messages. */
void protobuf_add_text(struct text *message, int field, const char *text);
void protobuf_add_bytes(struct text *message, int field, const void *bytes, size_t len);
void protobuf_add_message(struct text *message, int field, const struct text *part);

/* What is left to read of a message; set both to begin. */
struct protobuf_rest {
	const char *bytes;
	size_t len;
};

enum protobuf_wire {
	PROTOBUF_NUMBER = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_FIXED32 = 5,
};

struct protobuf_field {
	int number;
	enum protobuf_wire wire;
	uint64_t value; /* of numbers, and the bits of fixed ones */
	const char *bytes; /* of PROTOBUF_BYTES: borrowed from the message, no NUL behind them */
	size_t len;
};

/* Reads the next field: 1, or 0 at the end of the message. ERR_INVALID when it is cut off, or uses
 * groups, which nobody writes any more. */
int protobuf_next(struct protobuf_rest *rest, struct protobuf_field *ret_field,
		  struct err *err) MUST_USE;

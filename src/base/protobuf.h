/* Protocol Buffers on the wire: just enough to write TensorFlow's small messages. A message being
 * built is a `struct text` of bytes.
 *
 * Source: protobuf.dev/programming-guides/encoding. Fields are written as given: the caller omits a
 * proto3 field with its default value (0, "", false), as protobuf does. */
#pragma once

#include "base/text.h"

/* For int32, int64, uint32, uint64, bool and enums. A negative number is passed as int64_t, which
 * is also the encoding of int32. */
void protobuf_add_number(struct text *message, int field, int64_t value);
void protobuf_add_double(struct text *message, int field, double value);
/* For string, bytes, and nested messages. */
void protobuf_add_text(struct text *message, int field, const char *text);
void protobuf_add_bytes(struct text *message, int field, const void *bytes, size_t len);
void protobuf_add_message(struct text *message, int field, const struct text *part);

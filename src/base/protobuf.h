/* Protocol Buffers on the wire: enough to write TensorFlow's small messages. A message under way
 * is a `struct text` of bytes.
 *
 * Source: protobuf.dev/programming-guides/encoding. Fields are written as given: a field of proto3
 * that has its default value (0, "", false) is left out by the caller, as protobuf itself does. */
#pragma once

#include "base/text.h"

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

/* What the build makes of python/muster_check: see tools/embed_models.py. */
#pragma once

#include <stddef.h>

extern const unsigned char check_models_bytes[]; /* a Python zip */
extern const size_t check_models_size;
extern const char check_models_hash[]; /* of its bytes, 16 hexadecimal digits */

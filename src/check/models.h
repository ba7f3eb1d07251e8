/* The models that `muster check` trains: a Python zip inside the program. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>

/* Returns the path of the zip, STATE/programs/check-HASH.pyz, which Python can run directly; the
 * caller frees it. It is written unless a file with exactly these bytes exists. Another muster may
 * do so at the same time: the file appears atomically. Returns ERR_IO or ERR_SPACE. */
int check_models_install(const char *state_folder, char **ret_path, struct err *err) MUST_USE;

extern const unsigned char check_models_bytes[]; /* a Python zip */
extern const size_t check_models_size;
extern const char check_models_hash[]; /* of its bytes, 16 hexadecimal digits */

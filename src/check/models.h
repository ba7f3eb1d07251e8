/* The models that `muster check` trains: a Python zip that the program carries inside. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>

/* Gives the path of the zip, STATE/programs/check-HASH.pyz, which Python runs as it is; the caller
 * frees it. It is written unless a file with just these bytes is there already. Another muster may
 * do the same at the same time: the file appears whole. ERR_IO or ERR_SPACE. */
int check_models_install(const char *state_folder, char **ret_path, struct err *err) MUST_USE;

extern const unsigned char check_models_bytes[]; /* a Python zip */
extern const size_t check_models_size;
extern const char check_models_hash[]; /* of its bytes, 16 hexadecimal digits */

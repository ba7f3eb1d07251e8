/* Random numbers of the kernel, which cannot be guessed (getrandom(2)). */
#pragma once

#include "base/own.h"

#include <stddef.h>

void random_bytes(void *bytes, size_t len);
/* 256 random bits as 64 hexadecimal digits. Caller frees, with mem_free_secret if it is secret. */
char *random_token(void) MUST_USE;

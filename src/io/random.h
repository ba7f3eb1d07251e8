/* Random numbers of the kernel, which cannot be guessed (getentropy(3)). */
#pragma once

#include "base/own.h"

void random_bytes(void *bytes, size_t len); /* 256 at most */
/* From 0 to 1: the random part of waits, so that many clients of one server do not retry at the
 * same time. */
double random_fraction(void);
/* 256 random bits as 64 hexadecimal digits. Caller frees, with mem_free_secret if it is secret. */
char *random_token(void) MUST_USE;

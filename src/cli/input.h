/* Files that a call names, read whole. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

/* Reads a file ("-": standard input) into `text`. ERR_NOT_FOUND, ERR_IO, or ERR_LIMIT for more than
 * `limit` bytes; the sentence names the file. */
int input_read(const char *path, size_t limit, struct text *text, struct err *err) MUST_USE;

/* An error: a code for the program and a sentence for the user, on the caller's stack. */
#pragma once

#include "base/own.h"

enum err_code {
	ERR_INVALID = -1, /* the input is wrong; the text names the object and what was expected */
	ERR_NOT_FOUND = -2, /* no such job, file, program … */
	ERR_EXISTS = -3, /* it already exists */
	ERR_CONFLICT = -4, /* it has changed since it was read; read and decide again */
	ERR_IO = -5, /* a system call failed; the text has errno's message */
	ERR_UNREACHABLE = -6, /* another process or machine does not respond */
	ERR_REFUSED = -7, /* it exists, but rejects the request */
	ERR_LIMIT = -8, /* larger than a limit of spec/limits.h */
	ERR_UNSUPPORTED = -9, /* not available in this program or on this machine */
	ERR_SPACE = -10, /* disk full or quota reached */
};

#define ERR_TEXT_SIZE 512

struct err {
	int code; /* 0 or an enum err_code */
	char text[ERR_TEXT_SIZE];
};

/* Sets code and text and returns the code, so that a function can end with `return err_set(err,
 * ERR_NOT_FOUND, "job '%s' not found", name)`. A text that is too long is cut, control characters
 * except line feeds become '?'. Texts are lower case, without a full stop, and name the object. err
 * may be NULL. */
int err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* err_set with ERR_IO (ERR_SPACE for ENOSPC, EDQUOT and EFBIG), and ": " with errno's text. */
int err_set_errno(struct err *err, int errno_value, const char *format, ...) PRINTF_LIKE(3, 4);

/* Copies `from` to `err` and returns its code. If `from` is no error, returns 0 and changes
 * nothing. err may be NULL. */
int err_copy(struct err *err, const struct err *from);

/* Prepends "prefix: " to the text. Returns the code. */
int err_prefix(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* An error: a code for the program and a sentence for the person, on the caller's stack. */
#pragma once

#include "base/own.h"

enum err_code {
	ERR_INVALID = -1, /* the input is wrong; the text names the object and what was expected */
	ERR_NOT_FOUND = -2, /* no such job, file, program … */
	ERR_EXISTS = -3, /* it is there already */
	ERR_CONFLICT = -4, /* it changed since it was read; read again and decide again */
	ERR_IO = -5, /* the operating system said no; errno's text is in the sentence */
	ERR_UNREACHABLE = -6, /* another process or machine does not answer */
	ERR_REFUSED = -7, /* it is there and says no */
	ERR_LIMIT = -8, /* larger than a limit of spec/limits.h */
	ERR_UNSUPPORTED = -9, /* nothing here can do that */
	ERR_SPACE = -10, /* disk full or quota reached */
};

#define ERR_TEXT_SIZE 512

struct err {
	int code; /* 0 or an enum err_code */
	char text[ERR_TEXT_SIZE];
};

/* Writes code and text (a text too long is cut, control characters but line feeds become '?') and
 * returns the code, so that a function can end with `return err_set(err, ERR_NOT_FOUND, "job '%s'
 * not found", name)`. Lower case, no full stop, names the object. err may be NULL. */
int err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Like err_set with ERR_IO (ERR_SPACE for ENOSPC, EDQUOT and EFBIG), followed by ": " and errno's
 * text. */
int err_set_errno(struct err *err, int errno_value, const char *format, ...) PRINTF_LIKE(3, 4);

/* Makes `err` what `from` is and returns its code; 0 where that is no error, and nothing is
 * changed. err may be NULL. */
int err_copy(struct err *err, const struct err *from);

/* Puts "prefix: " before the text that is there. Returns the code. */
int err_prefix(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

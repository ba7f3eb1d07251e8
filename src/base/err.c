#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PRINTF_LIKE(3, 0)
static void write_text(struct err *err, enum err_code code, const char *format, va_list values)
{
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), format, values);
	/* Texts quote names from files, which must not control the terminal. */
	for (char *at = err->text; *at; at++)
		if (((unsigned char) *at < ' ' && *at != '\n') || *at == '\x7f')
			*at = '?';
}

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
	if (!err)
		return code;
	va_list values;
	va_start(values, format);
	write_text(err, code, format, values);
	va_end(values);
	return code;
}

int err_set_errno(struct err *err, int errno_value, const char *format, ...)
{
	bool is_full = errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
	enum err_code code = is_full ? ERR_SPACE : ERR_IO;

	if (!err)
		return code;
	va_list values;
	va_start(values, format);
	write_text(err, code, format, values);
	va_end(values);
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errno_value));
	return code;
}

int err_copy(struct err *err, const struct err *from)
{
	if (err && from->code)
		*err = *from;
	return from->code;
}

int err_prefix(struct err *err, const char *format, ...)
{
	if (!err)
		return ERR_INVALID;
	char prefix[ERR_TEXT_SIZE];
	va_list values;
	va_start(values, format);
	vsnprintf(prefix, sizeof(prefix), format, values);
	va_end(values);
	char old[ERR_TEXT_SIZE];
	memcpy(old, err->text, sizeof(old));
	snprintf(err->text, sizeof(err->text), "%.*s: %.*s", ERR_TEXT_SIZE / 2, prefix,
		 ERR_TEXT_SIZE / 2 - 4, old);
	return err->code;
}

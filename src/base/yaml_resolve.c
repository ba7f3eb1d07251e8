#include "base/names.h"
#include "base/yaml_node.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool resolve_word(const char *text, struct yaml_scalar *scalar)
{
	static const char *const yes[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
					  "True", "TRUE", "on",  "On",  "ON"};
	static const char *const no[] = {"n",     "N",     "no",  "No",  "NO", "false",
					 "False", "FALSE", "off", "Off", "OFF"};
	static const char *const null[] = {"", "~", "null", "Null", "NULL"};
	static const char *const infinite[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
					       "+.INF", "-.inf", "-.Inf", "-.INF"};
	static const char *const not_a_number[] = {".nan", ".NaN", ".NAN"};

	if (name_find_word(yes, ARRAY_LEN(yes), text) >= 0)
		*scalar = (struct yaml_scalar){.type = JSON_BOOL, .boolean = true};
	else if (name_find_word(no, ARRAY_LEN(no), text) >= 0)
		*scalar = (struct yaml_scalar){.type = JSON_BOOL};
	else if (name_find_word(null, ARRAY_LEN(null), text) >= 0)
		*scalar = (struct yaml_scalar){.type = JSON_NULL};
	else if (name_find_word(infinite, ARRAY_LEN(infinite), text) >= 0)
		*scalar = (struct yaml_scalar){.type = JSON_REAL,
					       .real = *text == '-' ? -INFINITY : INFINITY};
	else if (name_find_word(not_a_number, ARRAY_LEN(not_a_number), text) >= 0)
		*scalar = (struct yaml_scalar){.type = JSON_REAL, .real = NAN};
	else
		return false;
	return true;
}

/* The base of a prefix, as in Go's strconv.ParseInt with base 0; *digits advances past it. */
static int base_of(const char **digits)
{
	const char *at = *digits;

	if (at[0] != '0' || at[1] == '\0')
		return 10;
	char letter = (char) (at[1] | 0x20);
	int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;

	*digits += base ? 2 : 1;
	return base ? base : 8;
}

static int digit_of(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	char letter = (char) (byte | 0x20);

	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

static bool read_magnitude(const char *digits, int base, uint64_t *ret_magnitude)
{
	uint64_t magnitude = 0;

	if (!*digits)
		return false;
	for (; *digits; digits++) {
		int digit = digit_of(*digits);

		if (digit >= base ||
		    __builtin_mul_overflow(magnitude, (uint64_t) base, &magnitude) ||
		    __builtin_add_overflow(magnitude, (uint64_t) digit, &magnitude))
			return false;
	}
	*ret_magnitude = magnitude;
	return true;
}

/* 31, 0x1F, 0o37, 037, 0b11111. A number that only an unsigned 64-bit type holds becomes a real. */
static bool resolve_integer(const char *text, struct yaml_scalar *scalar)
{
	bool is_negative = *text == '-';
	bool is_signed = is_negative || *text == '+';
	const char *digits = text + is_signed;
	int base = base_of(&digits);
	uint64_t magnitude;

	if (!read_magnitude(digits, base, &magnitude))
		return false;
	uint64_t limit = (uint64_t) INT64_MAX + is_negative;

	if (magnitude > limit && is_signed)
		return false;
	if (magnitude > limit)
		*scalar = (struct yaml_scalar){.type = JSON_REAL, .real = (double) magnitude};
	else
		*scalar = (struct yaml_scalar){
			.type = JSON_INTEGER,
			.integer = (int64_t) (is_negative ? -magnitude : magnitude)};
	return true;
}

static const char *behind_digits(const char *at)
{
	return at + strspn(at, "0123456789");
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_real(const char *text)
{
	const char *at = text + (*text == '-' || *text == '+');
	const char *whole_end = behind_digits(at);
	bool has_whole = whole_end > at;

	at = whole_end;
	if (*at == '.') {
		const char *fraction_end = behind_digits(at + 1);

		if (!has_whole && fraction_end == at + 1)
			return false;
		at = fraction_end;
	} else if (!has_whole) {
		return false;
	}
	if (*at == 'e' || *at == 'E') {
		at += 1 + (at[1] == '-' || at[1] == '+');
		const char *exponent_end = behind_digits(at);

		if (exponent_end == at)
			return false;
		at = exponent_end;
	}
	return *at == '\0';
}

/* Go's JSON encoder writes a whole real without a fraction, so it becomes an integer. */
static bool resolve_real(const char *text, struct yaml_scalar *scalar)
{
	double real;

	if (!is_real(text) || text_read_real(text, &real, NULL) < 0)
		return false;
	bool is_whole = real >= -0x1p63 && real < 0x1p63 && (double) (int64_t) real == real;

	if (is_whole)
		*scalar = (struct yaml_scalar){.type = JSON_INTEGER, .integer = (int64_t) real};
	else
		*scalar = (struct yaml_scalar){.type = JSON_REAL, .real = real};
	return true;
}

static void add_without_underscores(struct text *plain, const char *text)
{
	for (; *text; text++)
		if (*text != '_')
			text_add_char(plain, *text);
}

struct yaml_scalar yaml_resolve(const char *text)
{
	struct yaml_scalar scalar = {.type = JSON_STRING};

	if (resolve_word(text, &scalar))
		return scalar;
	if (*text == '.') {
		resolve_real(text, &scalar);
	} else if (strchr("+-0123456789", *text)) {
		struct text plain CLEANUP(text_done) = {0};

		add_without_underscores(&plain, text);
		if (!resolve_integer(text_of(&plain), &scalar))
			resolve_real(text_of(&plain), &scalar);
	}
	return scalar;
}

void yaml_add_key(struct text *key, struct yaml_scalar scalar, const char *text)
{
	switch (scalar.type) {
	case JSON_BOOL:
		text_add(key, scalar.boolean ? "true" : "false");
		return;
	case JSON_INTEGER:
		text_addf(key, "%" PRId64, scalar.integer);
		return;
	case JSON_REAL:
		if (isfinite(scalar.real))
			text_add_real(key, scalar.real);
		else
			text_add(key, text);
		return;
	case JSON_NULL:
	case JSON_STRING:
	case JSON_ARRAY:
	case JSON_OBJECT:
		text_add(key, text);
		return;
	}
}

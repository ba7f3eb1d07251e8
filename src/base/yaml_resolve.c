#include "base/names.h"
#include "base/yaml_node.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
	const char *words[11]; /* NULL: none */
	struct yaml_scalar scalar;
} words[] = {
	{{"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"},
	 {.type = JSON_BOOL, .boolean = true}},
	{{"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"},
	 {.type = JSON_BOOL}},
	{{"", "~", "null", "Null", "NULL"}, {.type = JSON_NULL}},
	{{".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"},
	 {.type = JSON_REAL, .real = INFINITY}},
	{{"-.inf", "-.Inf", "-.INF"}, {.type = JSON_REAL, .real = -INFINITY}},
	{{".nan", ".NaN", ".NAN"}, {.type = JSON_REAL, .real = NAN}},
};

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

static bool read_magnitude(const char *digits, int base, uint64_t *ret_magnitude)
{
	uint64_t magnitude = 0;

	if (!*digits)
		return false;
	for (; *digits; digits++) {
		static const char known[] = "0123456789abcdef";
		const char *found = strchr(known, *digits >= 'A' ? *digits | 0x20 : *digits);
		int digit = found ? (int) (found - known) : base;

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

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_real(const char *text)
{
	const char *at = text + (*text == '-' || *text == '+');
	size_t len = text_number_length(at), exponent_len = 1;

	at += len;
	if (*at == 'e' || *at == 'E') {
		at += 1 + (at[1] == '-' || at[1] == '+');
		exponent_len = strspn(at, NAME_DIGITS);
		at += exponent_len;
	}
	return len && exponent_len && *at == '\0';
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

struct yaml_scalar yaml_resolve(const char *text)
{
	struct yaml_scalar scalar = {.type = JSON_STRING};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (name_find_word(words[i].words, ARRAY_LEN(words[i].words), text) >= 0)
			return words[i].scalar;
	if (*text == '.') {
		resolve_real(text, &scalar);
	} else if (strchr("+-0123456789", *text)) {
		struct text plain CLEANUP(text_done) = {0};

		for (const char *at = text; *at; at++)
			if (*at != '_')
				text_add_char(&plain, *at);
		if (!resolve_integer(text_of(&plain), &scalar))
			resolve_real(text_of(&plain), &scalar);
	}
	return scalar;
}

void yaml_add_key(struct text *key, struct yaml_scalar scalar, const char *text)
{
	if (scalar.type == JSON_BOOL)
		text_add(key, scalar.boolean ? "true" : "false");
	else if (scalar.type == JSON_INTEGER)
		text_addf(key, "%" PRId64, scalar.integer);
	else if (scalar.type == JSON_REAL && isfinite(scalar.real))
		text_add_real(key, scalar.real);
	else
		text_add(key, text);
}

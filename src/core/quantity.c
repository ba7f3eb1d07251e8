/* Reads Kubernetes' quantities: a number, and a suffix that multiplies it. */
#include "core/quantity.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

#include <string.h>

#define DIGITS "0123456789"

/* Binary, then decimal ones; "" is one. */
static const char *const suffixes[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "",  "n",
				       "u",  "m",  "k",  "M",  "G",  "T",  "P", "E"};

/* Length of the number that `text` begins with, 0 where there is none: "1", "1.5", ".5", "1.". */
static size_t number_length(const char *text)
{
	size_t whole = strspn(text, DIGITS);
	size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;

	if (whole + fraction == 0)
		return 0;
	return whole + fraction + (text[whole] == '.');
}

/* "e3", "E-2": a power of ten in the place of a suffix. */
static bool is_exponent(const char *suffix)
{
	size_t sign = suffix[0] ? strspn(suffix + 1, "+-") : 0;

	if (suffix[0] != 'e' && suffix[0] != 'E')
		return false;
	return sign <= 1 && suffix[1 + sign] &&
	       !suffix[1 + sign + strspn(suffix + 1 + sign, DIGITS)];
}

/* What people write for a suffix: "GB", "gi", "g", with a blank before it. NULL: no idea. */
static const char *suffix_meant(const char *written)
{
	static const char *const others[][2] = {
		{"kb", "k"},   {"mb", "M"},   {"gb", "G"},   {"tb", "T"},  {"kib", "Ki"},
		{"mib", "Mi"}, {"gib", "Gi"}, {"tib", "Ti"}, {"b", ""},    {"g", "G"},
		{"t", "T"},    {"ki", "Ki"},  {"mi", "Mi"},  {"gi", "Gi"}, {"ti", "Ti"},
	};

	written += strspn(written, " ");
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (text_equals_ignoring_case(others[i][0], written))
			return others[i][1];
	return name_find_word(suffixes, ARRAY_LEN(suffixes), written) >= 0 ? written : NULL;
}

static int complain(const char *text, size_t len, struct err *err)
{
	const char *meant = len ? suffix_meant(text + len) : NULL;

	if (meant)
		return err_set(err, ERR_INVALID, "'%s' is no quantity; did you mean '%.*s%s'?",
			       text, (int) len, text, meant);
	return err_set(err, ERR_INVALID,
		       "'%s' is no quantity: a number and one of the suffixes m k M G T P E or Ki "
		       "Mi Gi Ti Pi Ei, like 500m, 2 or 1.5Gi",
		       text);
}

static bool is_nothing(const char *text, size_t len)
{
	return strspn(text, "0.") >= len;
}

int quantity_check(const char *text, struct err *err)
{
	const char *number = text + (text[0] == '+');
	size_t len = number_length(number);
	const char *suffix = number + len;

	if (!len)
		return complain(text, 0, err);
	if (name_find_word(suffixes, ARRAY_LEN(suffixes), suffix) < 0 && !is_exponent(suffix))
		return complain(number, len, err);
	if (is_nothing(number, len))
		return err_set(err, ERR_INVALID, "'%s' is nothing: it has to be more than 0", text);
	return 0;
}

#include "spec/quantity.h"

#include "base/mem.h"
#include "base/names.h"

#include <inttypes.h>

#define LEAST_MEMORY 0x1p20
#define MOST_IN_THOUSANDTHS 9e15 /* fits an int64_t */
/* A user who forgets the suffix of a smaller number means GiB, of a larger one MiB. */
#define MOST_GIBIBYTES 128

/* Binary, then decimal ones; "" multiplies by one. */
static const char *const suffixes[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "",  "n",
				       "u",  "m",  "k",  "M",  "G",  "T",  "P", "E"};

/* "e3", "E-2": a power of ten instead of a suffix. */
static bool is_exponent(const char *suffix)
{
	size_t sign = suffix[0] ? strspn(suffix + 1, "+-") : 0;

	if (suffix[0] != 'e' && suffix[0] != 'E')
		return false;
	return sign <= 1 && suffix[1 + sign] &&
	       !suffix[1 + sign + strspn(suffix + 1 + sign, NAME_DIGITS)];
}

/* The factor of each suffix; in the order of `suffixes`. */
static const double factors[] = {0x1p10, 0x1p20, 0x1p30, 0x1p40, 0x1p50, 0x1p60, 1,    1e-9,
				 1e-6,   1e-3,   1e3,    1e6,    1e9,    1e12,   1e15, 1e18};

/* Usual misspellings of a suffix: "GB", "gi", "g", with a blank before it. NULL: unknown. */
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

static int report_bad_quantity(const char *text, size_t len, struct err *err)
{
	const char *meant = len ? suffix_meant(text + len) : NULL;

	if (meant)
		return err_set(err, ERR_INVALID, "'%s' is not a quantity; did you mean '%.*s%s'?",
			       text, (int) len, text, meant);
	return err_set(err, ERR_INVALID,
		       "'%s' is not a quantity (expected a number, and one of the "
		       "suffixes " QUANTITY_SUFFIXES ")",
		       text);
}

int quantity_read(const char *text, double *ret_value, struct err *err)
{
	const char *number = text + (text[0] == '+');
	size_t len = text_number_length(number);
	int index = name_find_word(suffixes, ARRAY_LEN(suffixes), number + len);

	if (!len)
		return report_bad_quantity(text, 0, err);
	if (index < 0 && !is_exponent(number + len))
		return report_bad_quantity(number, len, err);
	char *digits CLEANUP(mem_free_text) =
		index < 0 ? mem_copy_text(number) : mem_copy_bytes(number, len);
	double value = 0;
	int rc = text_read_real(digits, &value, NULL);

	*ret_value = rc < 0 ? 0 : value * (index < 0 ? 1 : factors[index]);
	return 0;
}

int quantity_check(const char *text, struct err *err)
{
	const char *number = text + (text[0] == '+');
	double value;
	int rc = quantity_read(text, &value, err);

	if (rc == 0 && strspn(number, "0.") >= text_number_length(number))
		return err_set(err, ERR_INVALID, "'%s' must be more than 0", text);
	return rc;
}

void quantity_add(double value, struct text *text)
{
	if (value > MOST_IN_THOUSANDTHS) {
		text_addf(text, "%.0f", value);
		return;
	}
	int64_t whole = (int64_t) (value + 0.5);
	double rest = value - (double) whole;

	if (rest > -0.0005 && rest < 0.0005)
		text_addf(text, "%" PRId64, whole);
	else
		text_addf(text, "%" PRId64 "m", (int64_t) (value * 1000 + 0.5));
}

int quantity_check_memory(const char *text, struct err *err)
{
	const char *suffix = text + (text[0] == '+') + text_number_length(text + (text[0] == '+'));
	double value = 0;
	int rc = quantity_check(text, err);

	if (rc < 0 || quantity_read(text, &value, err) < 0 || value >= LEAST_MEMORY)
		return rc;
	if (!text_equals(suffix, "") && !text_equals(suffix, "m"))
		return err_set(err, ERR_INVALID, "'%s' is too small for any program", text);
	return err_set(err, ERR_INVALID,
		       "'%s' is too small (the unit is bytes); did you mean '%.*s%s'?", text,
		       (int) (suffix - text), text,
		       *suffix || value >= MOST_GIBIBYTES ? "Mi" : "Gi");
}

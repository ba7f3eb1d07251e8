#include "base/text.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#define SECONDS_PER_DAY ((int64_t) 24 * 60 * 60)
#define DURATION_MAX (36525 * SECONDS_PER_DAY * MSEC_PER_SECOND)

void text_done(struct text *text)
{
	free(text->bytes);
	*text = (struct text){0};
}

void text_shorten(struct text *text, size_t len)
{
	text->len = len;
	if (text->bytes)
		text->bytes[len] = '\0';
}

void text_clear(struct text *text)
{
	text_shorten(text, 0);
}

/* Room for `more` bytes and a NUL. */
static void reserve_text_room(struct text *text, size_t more)
{
	size_t wanted;

	if (__builtin_add_overflow(text->len, more, &wanted) ||
	    __builtin_add_overflow(wanted, (size_t) 1, &wanted))
		wanted = SIZE_MAX; /* ends the program like lack of memory */
	if (wanted <= text->capacity)
		return;
	size_t doubled = text->capacity < SIZE_MAX / 2 ? text->capacity * 2 : wanted;

	text->capacity = doubled > wanted ? doubled : wanted;
	if (text->capacity < 64)
		text->capacity = 64;
	text->bytes = mem_resize(text->bytes, text->capacity, 1);
}

void text_add_bytes(struct text *text, const void *bytes, size_t len)
{
	reserve_text_room(text, len);
	if (len)
		memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
}

void text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void text_add_char(struct text *text, char byte)
{
	text_add_bytes(text, &byte, 1);
}

static void PRINTF_LIKE(2, 0) add_formatted(struct text *text, const char *format, va_list values)
{
	va_list again;

	va_copy(again, values);
	int len = vsnprintf(NULL, 0, format, values);

	if (len > 0) {
		reserve_text_room(text, (size_t) len);
		vsnprintf(text->bytes + text->len, (size_t) len + 1, format, again);
		text->len += (size_t) len;
	}
	va_end(again);
}

void text_addf(struct text *text, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	add_formatted(text, format, values);
	va_end(values);
}

void text_remove_beginning(struct text *text, size_t len)
{
	if (len == 0)
		return;
	memmove(text->bytes, text->bytes + len, text->len - len + 1); /* including the NUL */
	text->len -= len;
}

static bool has_line(const char *lines, const char *line)
{
	size_t len = strlen(line);

	for (; *lines; lines += strcspn(lines, "\n") + 1)
		if (strcspn(lines, "\n") == len && strncmp(lines, line, len) == 0)
			return true;
	return false;
}

void text_add_line_once(struct text *text, const char *format, ...)
{
	struct text line CLEANUP(text_done) = {0};
	va_list values;

	va_start(values, format);
	add_formatted(&line, format, values);
	va_end(values);
	if (!has_line(text_of(text), text_of(&line)))
		text_addf(text, "%s\n", text_of(&line));
}

char *text_take(struct text *text)
{
	reserve_text_room(text, 0);
	text->bytes[text->len] = '\0';
	char *taken = text->bytes;

	*text = (struct text){0};
	return taken;
}

const char *text_of(const struct text *text)
{
	return text->bytes ? text->bytes : "";
}

bool text_equals(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool text_keep(char **kept, const char *text)
{
	if (text_equals(*kept, text))
		return false;
	free(*kept);
	*kept = mem_copy_text(text);
	return true;
}

bool text_equals_ignoring_case(const char *a, const char *b)
{
	return a && b ? strcasecmp(a, b) == 0 : a == b;
}

bool text_starts_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool text_ends_with(const char *text, const char *ending)
{
	size_t len = strlen(text);
	size_t ending_len = strlen(ending);

	return len >= ending_len && strcmp(text + len - ending_len, ending) == 0;
}

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t text_utf8_length(const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *) bytes;

	if (len == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (len < 2 || at[0] < 0xc2 || at[0] > 0xf4 || !is_continuation(at[1]))
		return 0;
	if (at[0] < 0xe0)
		return 2;
	bool is_overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
	bool is_surrogate = at[0] == 0xed && at[1] >= 0xa0;
	bool is_too_large = at[0] == 0xf4 && at[1] >= 0x90;

	if (is_overlong || is_surrogate || is_too_large || len < 3 || !is_continuation(at[2]))
		return 0;
	if (at[0] < 0xf0)
		return 3;
	return len >= 4 && is_continuation(at[3]) ? 4 : 0;
}

size_t text_count_characters(const char *bytes, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += !is_continuation((unsigned char) bytes[i]);
	return count;
}

bool text_is_utf8(const char *bytes, size_t len)
{
	for (size_t length; len > 0; bytes += length, len -= length) {
		/* Almost all text is ASCII. */
		length = (unsigned char) *bytes < 0x80 ? 1 : text_utf8_length(bytes, len);
		if (length == 0)
			return false;
	}
	return true;
}

bool text_is_graphic(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] <= ' ' || bytes[i] > '~')
			return false;
	return true;
}

void text_add_as_utf8(struct text *text, const char *bytes, size_t len)
{
	for (size_t length, step; len > 0; bytes += step, len -= step) {
		length = text_utf8_length(bytes, len);
		step = length ? length : 1;
		if (length > 0)
			text_add_bytes(text, bytes, length);
		else
			text_add(text, "\xef\xbf\xbd");
	}
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

size_t text_number_length(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;

	return whole + fraction ? whole + fraction + (text[whole] == '.') : 0;
}

/* Reads decimal digits at *text, which advances. False without a digit, or beyond int64. */
static bool read_digits(const char **text, int64_t *ret_number)
{
	int64_t number = 0;

	if (!is_digit(**text))
		return false;
	for (; is_digit(**text); (*text)++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, **text - '0', &number))
			return false;
	*ret_number = number;
	return true;
}

int text_read_int(const char *text, int64_t low, int64_t high, int64_t *ret_number, struct err *err)
{
	const char *at = text ? text : "";
	bool is_negative = *at == '-';
	int64_t number;

	if (*at == '-' || *at == '+')
		at++;
	bool is_number = read_digits(&at, &number) && *at == '\0';

	if (is_number && is_negative)
		number = -number;
	if (!is_number || number < low || number > high)
		return err_set(err, ERR_INVALID,
			       "'%s' is not a whole number from %" PRId64 " to %" PRId64,
			       text ? text : "", low, high);
	*ret_number = number;
	return 0;
}

/* LC_NUMERIC is never set (setlocale), so strtod and printf use JSON's number format. */
int text_read_real(const char *text, double *ret_number, struct err *err)
{
	const char *from = text ? text : "";
	char *end = NULL;
	double number = strtod(from, &end);
	bool has_letters = from[strspn(from, "+-.0123456789eE")] != '\0';
	bool is_finite = number - number == 0;

	if (end == from || *end != '\0' || has_letters || !is_finite)
		return err_set(err, ERR_INVALID, "'%s' is not a number", from);
	*ret_number = number;
	return 0;
}

void text_add_real(struct text *text, double number)
{
	char digits[40];
	double again = 0;

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, number);
		if (text_read_real(digits, &again, NULL) == 0 && again == number)
			break;
	}
	text_add(text, digits);
	if (!strpbrk(digits, ".e"))
		text_add(text, ".0");
}

/* Reads a number at *text as thousandths: "0.5" is exact. Digits after the third are cut. */
static bool read_thousandths(const char **text, int64_t *ret_thousandths)
{
	int64_t whole = 0;
	int64_t fraction = 0;

	if (is_digit(**text) && !read_digits(text, &whole))
		return false;
	if (**text == '.') {
		(*text)++;
		if (!is_digit(**text))
			return false;
		for (int weight = 100; is_digit(**text); (*text)++, weight /= 10)
			fraction += (**text - '0') * weight;
	}
	return !__builtin_mul_overflow(whole, 1000, ret_thousandths) &&
	       !__builtin_add_overflow(*ret_thousandths, fraction, ret_thousandths);
}

/* Reads the unit at *text in milliseconds and advances; 0: no unit. */
static int64_t read_unit(const char **text)
{
	static const struct {
		const char *word;
		int64_t milliseconds;
	} units[] = {
		{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000},
	};

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (!text_starts_with(*text, units[i].word))
			continue;
		*text += strlen(units[i].word);
		return units[i].milliseconds;
	}
	return 0;
}

/* Reads one "10m" of a duration; a bare number is in seconds if it is the only part. */
static bool read_duration_part(const char **text, bool is_first, msec *duration)
{
	int64_t thousandths;
	int64_t product;

	if (!is_digit(**text) && **text != '.')
		return false;
	if (!read_thousandths(text, &thousandths))
		return false;
	bool is_zero = is_first && **text == '\0' && thousandths == 0;
	int64_t unit = is_zero ? MSEC_PER_SECOND : read_unit(text);

	return unit > 0 && !__builtin_mul_overflow(thousandths, unit, &product) &&
	       !__builtin_add_overflow(*duration, product / 1000, duration);
}

int text_read_duration(const char *text, msec *ret_duration, struct err *err)
{
	const char *at = text ? text : "", *end = at;
	int64_t thousandths = 0;
	msec duration = 0;

	/* Slurm counts minutes, docker seconds: the unit is ambiguous. */
	if ((is_digit(*at) || *at == '.') && read_thousandths(&end, &thousandths) && *end == '\0' &&
	    thousandths != 0)
		return err_set(err, ERR_INVALID, "'%s' has no unit; did you mean %ss or %sm?", text,
			       text, text);
	do {
		if (!read_duration_part(&at, at == text, &duration))
			return err_set(
				err, ERR_INVALID,
				"'%s' is not a duration (expected for example 30s, 10m or 1h30m)",
				text ? text : "");
	} while (*at);
	if (duration > DURATION_MAX)
		return err_set(err, ERR_INVALID, "'%s' is longer than 100 years", text);
	*ret_duration = duration;
	return 0;
}

/* The steps are those of apimachinery's duration.HumanDuration, which kubectl's AGE column uses. */
void text_add_duration(struct text *text, msec duration)
{
	enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };
	static const struct {
		int64_t below; /* seconds */
		int64_t big, small; /* units; 0: only the big one */
		char letters[3];
	} steps[] = {
		{2 * MINUTE, 1, 0, "s"},    {10 * MINUTE, MINUTE, 1, "ms"},
		{3 * HOUR, MINUTE, 0, "m"}, {8 * HOUR, HOUR, MINUTE, "hm"},
		{2 * DAY, HOUR, 0, "h"},    {8 * DAY, DAY, HOUR, "dh"},
		{2 * YEAR, DAY, 0, "d"},    {8 * (int64_t) YEAR, YEAR, DAY, "yd"},
		{INT64_MAX, YEAR, 0, "y"},
	};
	int64_t seconds = duration > 0 ? duration / MSEC_PER_SECOND : 0;
	size_t i = 0;

	if (duration > 0 && seconds == 0) {
		text_addf(text, "%" PRId64 "ms", duration);
		return;
	}
	while (seconds >= steps[i].below)
		i++;
	int64_t rest = steps[i].small ? seconds % steps[i].big / steps[i].small : 0;

	text_addf(text, "%" PRId64 "%c", seconds / steps[i].big, steps[i].letters[0]);
	if (rest > 0)
		text_addf(text, "%" PRId64 "%c", rest, steps[i].letters[1]);
}

/* Days since 1970-01-01 of the proleptic Gregorian calendar, and back: Howard Hinnant, "chrono-
 * Compatible Low-Level Date Algorithms". Not gmtime_r: it reads the time zone's file. */
static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

static void date_of_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t day_of_era = days - era * 146097;
	int64_t year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t march_month = (5 * day_of_year + 2) / 153;

	*ret_day = (int) (day_of_year - (153 * march_month + 2) / 5 + 1);
	*ret_month = (int) (march_month < 10 ? march_month + 3 : march_month - 9);
	*ret_year = year_of_era + era * 400 + (*ret_month <= 2);
}

static int64_t divide_down(int64_t number, int64_t by)
{
	return number / by - (number % by < 0);
}

void text_add_time(struct text *text, msec time)
{
	text_add_time_ahead(text, time, 0);
}

static void add_timestamp(struct text *text, msec time, int offset, bool has_milliseconds)
{
	time += offset * INT64_C(60000);

	int64_t seconds = divide_down(time, MSEC_PER_SECOND), year;
	int milliseconds = (int) (time - seconds * MSEC_PER_SECOND);
	int64_t days = divide_down(seconds, SECONDS_PER_DAY);
	int second_of_day = (int) (seconds - days * SECONDS_PER_DAY);
	int minutes = offset < 0 ? -offset : offset, month, day;

	date_of_days(days, &year, &month, &day);
	text_addf(text, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", year, month, day,
		  second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
	if (has_milliseconds)
		text_addf(text, ".%03d", milliseconds);
	if (offset == 0)
		text_add_char(text, 'Z');
	else
		text_addf(text, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

void text_add_time_ahead(struct text *text, msec time, int offset)
{
	add_timestamp(text, time, offset, time % MSEC_PER_SECOND != 0);
}

void text_add_line_time(struct text *text, msec time, int offset)
{
	add_timestamp(text, time, offset, true);
}

/* Reads the form, in which each '0' stands for a digit; *text advances. */
static bool read_form(const char **text, const char *form)
{
	for (; *form; form++, (*text)++)
		if (*form == '0' ? !is_digit(**text) : **text != *form)
			return false;
	return true;
}

static int number_at(const char *digits, size_t count)
{
	int number = 0;

	for (size_t i = 0; i < count; i++)
		number = number * 10 + (digits[i] - '0');
	return number;
}

/* Minutes of a clock: "03:04". */
static bool read_clock(const char *digits, int *ret_minutes)
{
	int hour = number_at(digits, 2), minute = number_at(digits + 3, 2);

	*ret_minutes = hour * 60 + minute;
	return hour <= 23 && minute <= 59;
}

static bool read_timestamp(const char *text, msec *ret_time)
{
	const char *at = text;
	int64_t thousandths = 0, same_year;
	int minutes, ahead = 0, same_month, same_day;

	if (!read_form(&at, "0000-00-00T00:00:00") || !read_clock(text + 11, &minutes) ||
	    (*at == '.' && !read_thousandths(&at, &thousandths)))
		return false;
	int month = number_at(text + 5, 2), day = number_at(text + 8, 2);
	int second = number_at(text + 17, 2);
	int64_t days = days_of_date(number_at(text, 4), month, day);
	/* "Z", or "+01:30" by which the time is ahead of UTC. */
	const char *zone = at;
	const char *form = *zone == 'Z' ? "Z" : *zone == '-' ? "-00:00" : "+00:00";

	date_of_days(days, &same_year, &same_month, &same_day);
	if (month != same_month || day != same_day || second > 59 || !read_form(&at, form) || *at ||
	    (*zone != 'Z' && !read_clock(zone + 1, &ahead)))
		return false;
	*ret_time = days * SECONDS_PER_DAY * MSEC_PER_SECOND + thousandths +
		    ((minutes - (*zone == '-' ? -ahead : ahead)) * 60 + second) * MSEC_PER_SECOND;
	return true;
}

int text_read_time(const char *text, msec *ret_time, struct err *err)
{
	if (!read_timestamp(text ? text : "", ret_time))
		return err_set(err, ERR_INVALID,
			       "'%s' is not a time (expected for example 2026-01-02T03:04:05Z)",
			       text ? text : "");
	return 0;
}

char *amount_of_bytes(uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double amount = (double) bytes / 1000;
	size_t unit = 0;

	if (bytes < 1000)
		return mem_format("%d bytes", (int) bytes);
	/* An amount that would be printed as 1000.0 is 1.0 of the next unit. */
	while (amount >= 999.95) {
		amount /= 1000;
		unit++;
	}
	return mem_format("%.1f %s", amount, units[unit]);
}

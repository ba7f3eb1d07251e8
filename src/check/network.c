#include "check/network.h"

#include "base/mem.h"

#include <math.h>

/* Negative: not measured. */
static double measured(const struct json *link, const char *key)
{
	return json_as_real(json_get(link, key), -1);
}

static char *key_of(const char *from, const char *to)
{
	return mem_format("%s\n%s", from, to);
}

bool check_network_add(struct json *links, const struct json *event)
{
	const char *from = json_get_string(event, "from", NULL),
		   *to = json_get_string(event, "to", NULL);

	if (!from || !to)
		return false;
	char *key CLEANUP(mem_free_text) = key_of(from, to);
	struct json *link = json_new_copy(event);

	json_remove(link, "muster");
	json_set(links, key, link);
	return true;
}

const struct json *check_network_find(const struct json *links, const char *from, const char *to)
{
	char *key CLEANUP(mem_free_text) = key_of(from, to);

	return json_get(links, key);
}

const struct json *check_network_failed(const struct json *links, size_t *ret_count)
{
	const struct json *first = NULL;
	const char *key = NULL;
	struct json *link;

	*ret_count = 0;
	while (json_next(links, &key, &link)) {
		if (!json_get_string(link, "error", NULL))
			continue;
		if (!first)
			first = link;
		++*ret_count;
	}
	return first;
}

const char *check_network_stage(const struct json *link)
{
	return json_get_string(link, "stage", "answer");
}

/* Numbers for the report. */

struct unit {
	double size;
	const char *name;
};

static const struct unit seconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
static const struct unit speeds[] = {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}};
#define N_UNITS ARRAY_LEN(seconds)

/* The largest unit in which the value is at least one, else the smallest. */
static const struct unit *unit_of(const struct unit units[N_UNITS], double value)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (value >= units[i].size)
			return &units[i];
	return &units[N_UNITS - 1];
}

/* One decimal place if there is one digit before the point. */
static void add_rounded_number(struct text *text, double value)
{
	text_addf(text, "%.*f", value < 9.95 ? 1 : 0, value);
}

static void add_value_with_unit(struct text *text, const struct unit units[N_UNITS], double value)
{
	const struct unit *unit = unit_of(units, value);

	add_rounded_number(text, value / unit->size);
	text_addf(text, " %s", unit->name);
}

void check_network_add_speed(double bytes_per_second, struct text *text)
{
	add_value_with_unit(text, speeds, bytes_per_second);
}

struct range {
	double least, most;
	bool has_any;
};

static void widen_value_range(struct range *range, double value)
{
	if (value < 0)
		return;
	if (!range->has_any || value < range->least)
		range->least = value;
	if (!range->has_any || value > range->most)
		range->most = value;
	range->has_any = true;
}

/* In the unit of the larger number, unless the smaller one would be almost zero in it. */
static void add_range(struct text *text, const char *before, const struct unit units[N_UNITS],
		      const struct range *range)
{
	const struct unit *unit = unit_of(units, range->most);
	struct text least CLEANUP(text_done) = {0}, most CLEANUP(text_done) = {0};

	if (!range->has_any)
		return;
	if (range->least < unit->size / 10)
		add_value_with_unit(&least, units, range->least);
	else
		add_rounded_number(&least, range->least / unit->size);
	add_rounded_number(&most, range->most / unit->size);
	text_add(text, before);
	if (!text_equals(text_of(&least), text_of(&most)))
		text_addf(text, "%s to ", text_of(&least));
	text_addf(text, "%s %s", text_of(&most), unit->name);
}

void check_network_add_ranges(const struct json *links, struct text *text)
{
	struct range connects = {0}, round_trips = {0}, bandwidths = {0}, clocks = {0};
	const char *key = NULL;
	struct json *link;

	while (json_next(links, &key, &link)) {
		widen_value_range(&connects, measured(link, "connect"));
		widen_value_range(&round_trips, measured(link, "roundTrip"));
		widen_value_range(&bandwidths, measured(link, "bandwidth"));
		if (json_get(link, "clock"))
			widen_value_range(&clocks, fabs(measured(link, "clock")));
	}
	text_addf(text, "%zu %s", json_count(links), json_count(links) == 1 ? "link" : "links");
	if (round_trips.has_any)
		add_range(text, ": round trip ", seconds, &round_trips);
	else
		add_range(text, ": connected after ", seconds, &connects);
	add_range(text, ", ", speeds, &bandwidths);
	if (!clocks.has_any)
		return;
	text_add(text, ", clocks within ");
	add_value_with_unit(text, seconds, clocks.most < 1e-3 ? 1e-3 : clocks.most);
}

/* The table. */

/* Wider tables are unreadable. */
#define NAMES_MOST 12
#define FAILURES_MOST 20

static void add_cell(struct text *text, const struct json *link)
{
	const char *stage = check_network_stage(link);

	if (!link)
		text_add(text, "-");
	else if (json_get_string(link, "error", NULL))
		text_add(text, text_equals(stage, "resolve")   ? "NO NAME"
			       : text_equals(stage, "connect") ? "NO PORT"
							       : "NO ANSWER");
	else
		add_value_with_unit(
			text, seconds,
			measured(link, json_get(link, "roundTrip") ? "roundTrip" : "connect"));
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(const char *const *) a, *(const char *const *) b);
}

/* The asking ("from") or asked ("to") tasks, each once and in order; the caller frees the list.
 * `*width` becomes at least the length of the longest. */
static const char **collect_names(const struct json *links, const char *end, size_t *ret_count,
				  size_t *width)
{
	const char **names = mem_new_array(json_count(links), sizeof(*names));
	size_t n_links = 0, count = 0;
	const char *key = NULL;
	struct json *link;

	while (json_next(links, &key, &link))
		names[n_links++] = json_get_string(link, end, NULL);
	qsort(names, n_links, sizeof(*names), compare_names);
	for (size_t i = 0; i < n_links; i++)
		if (count == 0 || strcmp(names[count - 1], names[i]) != 0) {
			names[count++] = names[i];
			if (strlen(names[i]) > *width)
				*width = strlen(names[i]);
		}
	*ret_count = count;
	return names;
}

static void add_failures(const struct json *links, struct text *text)
{
	size_t n_told = 0;
	const char *key = NULL;
	struct json *link;

	while (json_next(links, &key, &link) && n_told < FAILURES_MOST) {
		if (!json_get_string(link, "error", NULL))
			continue;
		text_addf(text, "  %s to %s (%s): %s: %s\n", json_get_string(link, "from", NULL),
			  json_get_string(link, "to", NULL), json_get_string(link, "address", "?"),
			  check_network_stage(link), json_get_string(link, "error", NULL));
		n_told++;
	}
}

static void finish_line(struct text *text)
{
	while (text->len && text->bytes[text->len - 1] == ' ')
		text->bytes[--text->len] = '\0';
	text_add_char(text, '\n');
}

void check_network_add_table(const struct json *links, struct text *text)
{
	size_t n_rows, n_columns, head = strlen("from"), width = strlen("NO ANSWER");
	const char **rows CLEANUP(mem_free_any) = collect_names(links, "from", &n_rows, &head);
	const char **columns CLEANUP(mem_free_any) = collect_names(links, "to", &n_columns, &width);

	if (n_columns > NAMES_MOST) {
		add_failures(links, text);
		return;
	}
	text_addf(text, "  %-*s", (int) head, "from");
	for (size_t i = 0; i < n_columns; i++)
		text_addf(text, "  %-*s", (int) width, columns[i]);
	finish_line(text);
	for (size_t row = 0; row < n_rows; row++) {
		text_addf(text, "  %-*s", (int) head, rows[row]);
		for (size_t i = 0; i < n_columns; i++) {
			struct text cell CLEANUP(text_done) = {0};

			add_cell(&cell, check_network_find(links, rows[row], columns[i]));
			text_addf(text, "  %-*s", (int) width, text_of(&cell));
		}
		finish_line(text);
	}
}

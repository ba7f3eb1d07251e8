#include "check/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void check_network_done(struct check_network *network)
{
	for (size_t i = 0; i < network->count; i++)
		json_free(network->pairs[i].event);
	free(network->pairs);
}

static struct check_pair *pair_of(const struct check_network *network, const char *from,
				  const char *to)
{
	for (size_t i = 0; i < network->count; i++) {
		struct check_pair *pair = &network->pairs[i];

		if (!strcmp(pair->from, from) && !strcmp(pair->to, to))
			return pair;
	}
	return NULL;
}

const struct check_pair *check_network_find(const struct check_network *network, const char *from,
					    const char *to)
{
	return pair_of(network, from, to);
}

static const char *member(const struct json *event, const char *key)
{
	return json_as_string(json_get(event, key), NULL);
}

/* Negative: not measured. */
static double pair_measurement_of(const struct check_pair *pair, const char *key)
{
	return json_as_real(json_get(pair->event, key), -1);
}

bool check_network_add(struct check_network *network, const struct json *event)
{
	if (!member(event, "from") || !member(event, "to"))
		return false;
	struct check_pair *pair = pair_of(network, member(event, "from"), member(event, "to"));

	if (!pair) {
		mem_grow(&network->pairs, &network->capacity, network->count,
			 sizeof(*network->pairs));
		pair = &network->pairs[network->count++];
		*pair = (struct check_pair){0};
	}
	json_free(pair->event);
	pair->event = json_new_copy(event);
	pair->from = member(pair->event, "from");
	pair->to = member(pair->event, "to");
	pair->address = member(pair->event, "address");
	pair->error = member(pair->event, "error");
	pair->stage = pair->error ? member(pair->event, "stage") : NULL;
	if (pair->error && !pair->stage)
		pair->stage = "answer";
	return true;
}

const struct check_pair *check_network_failed(const struct check_network *network,
					      size_t *ret_count)
{
	const struct check_pair *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < network->count; i++) {
		if (!network->pairs[i].error)
			continue;
		if (!first)
			first = &network->pairs[i];
		count++;
	}
	*ret_count = count;
	return first;
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

void check_network_add_ranges(const struct check_network *network, struct text *text)
{
	struct range connects = {0}, round_trips = {0}, bandwidths = {0}, clocks = {0};

	for (size_t i = 0; i < network->count; i++) {
		const struct check_pair *pair = &network->pairs[i];

		widen_value_range(&connects, pair_measurement_of(pair, "connect"));
		widen_value_range(&round_trips, pair_measurement_of(pair, "roundTrip"));
		widen_value_range(&bandwidths, pair_measurement_of(pair, "bandwidth"));
		if (json_get(pair->event, "clock"))
			widen_value_range(&clocks, fabs(pair_measurement_of(pair, "clock")));
	}
	text_addf(text, "%zu %s", network->count, network->count == 1 ? "link" : "links");
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

static void add_cell(struct text *text, const struct check_pair *pair)
{
	if (!pair)
		text_add(text, "-");
	else if (text_equals(pair->stage, "resolve"))
		text_add(text, "NO NAME");
	else if (text_equals(pair->stage, "connect"))
		text_add(text, "NO PORT");
	else if (pair->error)
		text_add(text, "NO ANSWER");
	else
		add_value_with_unit(text, seconds,
				    pair_measurement_of(pair, json_get(pair->event, "roundTrip")
								      ? "roundTrip"
								      : "connect"));
}

static void add_padded_cell(struct text *text, const struct check_pair *pair, size_t width)
{
	struct text cell CLEANUP(text_done) = {0};

	add_cell(&cell, pair);
	text_addf(text, "  %-*s", (int) width, text_of(&cell));
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(const char *const *) a, *(const char *const *) b);
}

/* The asking or asked tasks, each once and in order; the caller frees the list. */
static const char **collect_names(const struct check_network *network, bool is_asked,
				  size_t *ret_count)
{
	const char **names = mem_new_array(network->count, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < network->count; i++)
		names[i] = is_asked ? network->pairs[i].to : network->pairs[i].from;
	qsort(names, network->count, sizeof(*names), compare_names);
	for (size_t i = 0; i < network->count; i++)
		if (count == 0 || strcmp(names[count - 1], names[i]) != 0)
			names[count++] = names[i];
	*ret_count = count;
	return names;
}

static size_t longest(const char *const *names, size_t count, size_t least)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) > least)
			least = strlen(names[i]);
	return least;
}

static void finish_network_line(struct text *text)
{
	while (text->len && text->bytes[text->len - 1] == ' ')
		text->bytes[--text->len] = '\0';
	text_add_char(text, '\n');
}

static void add_failures(const struct check_network *network, struct text *text)
{
	size_t n_told = 0;

	for (size_t i = 0; i < network->count && n_told < FAILURES_MOST; i++) {
		const struct check_pair *pair = &network->pairs[i];

		if (!pair->error)
			continue;
		text_addf(text, "  %s to %s (%s): %s: %s\n", pair->from, pair->to,
			  pair->address ? pair->address : "?", pair->stage, pair->error);
		n_told++;
	}
}

void check_network_add_table(const struct check_network *network, struct text *text)
{
	size_t n_rows, n_columns;
	const char **rows CLEANUP(mem_free_any) = collect_names(network, false, &n_rows);
	const char **columns CLEANUP(mem_free_any) = collect_names(network, true, &n_columns);
	size_t width = longest(columns, n_columns, strlen("NO ANSWER"));
	size_t head = longest(rows, n_rows, strlen("from"));

	if (n_columns > NAMES_MOST) {
		add_failures(network, text);
		return;
	}
	text_addf(text, "  %-*s", (int) head, "from");
	for (size_t i = 0; i < n_columns; i++)
		text_addf(text, "  %-*s", (int) width, columns[i]);
	finish_network_line(text);
	for (size_t row = 0; row < n_rows; row++) {
		text_addf(text, "  %-*s", (int) head, rows[row]);
		for (size_t i = 0; i < n_columns; i++)
			add_padded_cell(text, check_network_find(network, rows[row], columns[i]),
					width);
		finish_network_line(text);
	}
}

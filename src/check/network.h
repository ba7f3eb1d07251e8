/* The network matrix: for each pair of tasks the measured connection. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* One direction, with the event that reported it. Texts are the event's. */
struct check_pair {
	struct json *event; /* times in seconds, bandwidth in bytes a second, where measured */
	const char *from, *to;
	const char *address; /* of `to`; NULL: unknown */
	const char *stage; /* the failed stage: "resolve", "connect", "answer"; NULL: success */
	const char *error; /* "connection refused" */
};

struct check_network {
	struct check_pair *pairs; /* one for each pair of from and to */
	size_t count;
	size_t capacity;
};

void check_network_done(struct check_network *network);
/* Copies a "network" event; it replaces an earlier one of the same pair. Returns false if it names
 * no pair. */
bool check_network_add(struct check_network *network, const struct json *event);
const struct check_pair *check_network_find(const struct check_network *network, const char *from,
					    const char *to);
/* The first pair that failed, and their number; NULL: none. */
const struct check_pair *check_network_failed(const struct check_network *network,
					      size_t *ret_count);

/* "12 ways: round trip 31 to 52 us, 1.9 to 2.1 GB/s, clocks within 1 ms": the measurements. Without
 * a measuring peer: "2 ways: connected after 310 to 700 us". */
void check_network_add_ranges(const struct check_network *network, struct text *text);
/* Appends a row for each asking task and a column for each asked one: the round trip, or what is
 * missing. With many tasks only the failed links, a line each. Lines begin with two spaces. */
void check_network_add_table(const struct check_network *network, struct text *text);

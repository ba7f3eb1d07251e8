/* The network matrix: what each pair of tasks has found out about the way between them. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* One direction: the event that told of it. Texts are the event's. */
struct check_pair {
	struct json *event; /* times in seconds, bandwidth in bytes a second, where measured */
	const char *from, *to;
	const char *address; /* of `to`; NULL: not told */
	const char *stage; /* what failed: "resolve", "connect", "answer"; NULL: all went well */
	const char *error; /* "connection refused" */
};

struct check_network {
	struct check_pair *pairs; /* one for each from and to */
	size_t count;
	size_t capacity;
};

void check_network_done(struct check_network *network);
/* Copies a "network" event; one about the same pair replaces what was known. False: it names no
 * pair. */
bool check_network_add(struct check_network *network, const struct json *event);
const struct check_pair *check_network_find(const struct check_network *network, const char *from,
					    const char *to);
/* The first pair that failed, and how many did; NULL when none. */
const struct check_pair *check_network_failed(const struct check_network *network,
					      size_t *ret_count);

/* "12 ways: round trip 31 to 52 us, 1.9 to 2.1 GB/s, clocks within 1 ms": what was measured.
 * Where there was nobody to measure with: "2 ways: connected after 310 to 700 us". */
void check_network_add_ranges(const struct check_network *network, struct text *text);
/* A row for each task that asked, a column for each one asked: the round trip, or what is missing.
 * Of many tasks only the ways that failed, a line each. Lines begin with two blanks. */
void check_network_add_table(const struct check_network *network, struct text *text);

/* The network matrix: for each pair of tasks the measured connection, as its "network" event tells
 * (tensorflow/network_matrix.h). The links are an object whose members are these events. */
#pragma once

#include "base/json.h"

/* Copies an event, in place of an earlier one of its link. False if it names no two ends. */
bool check_network_add(struct json *links, const struct json *event);
/* NULL: this link was not reported. */
const struct json *check_network_find(const struct json *links, const char *from, const char *to);
/* The first link that failed, and their number; NULL: none. */
const struct json *check_network_failed(const struct json *links, size_t *ret_count);
/* The stage at which a link failed: "resolve", "connect", "answer". */
const char *check_network_stage(const struct json *link);

/* "12 links: round trip 31 to 52 us, 1.9 to 2.1 GB/s, clocks within 1 ms": the measurements.
 * Without a measuring peer: "2 links: connected after 310 to 700 us". */
void check_network_add_ranges(const struct json *links, struct text *text);
/* "1.9 GB/s" */
void check_network_add_speed(double bytes_per_second, struct text *text);
/* Appends a row for each asking task and a column for each asked one: the round trip, or what is
 * missing. With many tasks only the failed links, a line each. Lines begin with two spaces. */
void check_network_add_table(const struct json *links, struct text *text);

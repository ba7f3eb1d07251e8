/* The members of a rendezvous, as they are known: found by id, and in the order in which they came.
 */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct member_entry {
	char *id;
	char *offer;
	int node_rank; /* before the order in which they came */
	int64_t number; /* that order */
	msec heard_at;
	msec expires_at; /* lost, unless it is heard of before */
	msec acknowledge_by; /* the same, unless it is known to have its order before */
	int rank; /* in the world that goes on; -1: it is not in it */
	bool is_done; /* its workers in that world have succeeded */
	bool was_blamed; /* it was in the world whose failure was charged last */
	bool is_leaving; /* it takes no part in another world */
	int n_failures; /* of its processes, which came first in their worlds */
	msec failures_since; /* the first of these */
	int64_t failed_in; /* generation of the last one */
	bool is_awaited; /* known by what a server kept alone */
	bool is_excluded; /* they were too many: it takes part only where others are too few */
};

struct member_table {
	struct member_entry **members; /* by id */
	size_t count;
	size_t capacity;
	int64_t n_ever;
};

void member_table_done(struct member_table *table);
/* NULL: there is none. Valid until it is removed. */
struct member_entry *member_table_find(const struct member_table *table, const char *id);
/* One that is not there yet, the last to come. */
struct member_entry *member_table_add(struct member_table *table, const char *id);
void member_table_remove(struct member_table *table, struct member_entry *member);
/* The members that may be in another world, in the order in which they came; those that were set
 * aside stand last. Caller frees. */
struct member_entry **member_table_candidates(const struct member_table *table,
					      size_t *ret_count) MUST_USE;
/* Those of them that were not set aside. */
size_t member_table_count_preferred(const struct member_table *table);

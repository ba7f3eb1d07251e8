/* The members of a rendezvous: found by id, and in order of arrival. */
#pragma once

#include "base/instant.h"
#include "base/own.h"
#include "rendezvous/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct member_entry {
	char *id;
	char *offer;
	char *key; /* as in RENDEZVOUS_JOIN; NULL: none */
	struct world_share share; /* of it */
	void *attachment; /* what the caller has attached to it; NULL at first */
	int64_t last_call; /* number of its last call; 0: unknown */
	int node_rank; /* sorts before the order of arrival */
	int64_t number; /* order of arrival; below 0: of a lost world, by its rank there */
	instant heard_at;
	instant expires_at; /* lost then, unless it calls before */
	instant acknowledge_by; /* lost then, unless it acknowledges its order before */
	int rank; /* in the current world; -1: not in it */
	bool is_done; /* its workers in that world succeeded */
	bool was_blamed; /* it was in the world whose failure was charged last */
	bool is_leaving; /* it will be in no other world */
	int n_failures; /* number of worlds in which its process failed first */
	instant failures_since; /* time of the first of these */
	int64_t failed_in; /* generation of the last of these */
	bool is_awaited; /* restored from the record, not yet heard of */
	bool is_excluded; /* it failed too often: it takes part only if the others are too few */
};

struct member_table {
	struct member_entry **members; /* by id */
	size_t count;
	size_t capacity;
	int64_t n_ever;
};

void member_table_done(struct member_table *table);
/* NULL: none. Valid until it is removed. */
struct member_entry *member_table_find(const struct member_table *table, const char *id);
/* Adds a member that must be new; it is the last to arrive. */
struct member_entry *member_table_add(struct member_table *table, const char *id);
void member_table_remove(struct member_table *table, struct member_entry *member);
/* The members that may be in another world, in order of arrival; excluded ones come last. Caller
 * frees. */
struct member_entry **member_table_candidates(const struct member_table *table,
					      size_t *ret_count) MUST_USE;
/* The number of those that are not excluded. */
size_t member_table_count_preferred(const struct member_table *table);

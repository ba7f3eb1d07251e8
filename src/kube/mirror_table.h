/* A hash table of objects by name. The values are pointers that the caller owns. */
#pragma once

#include "base/own.h"

struct mirror_entry {
	char *name; /* NULL: free */
	void *kept;
	uint64_t seen; /* number of the list in which it was last seen */
};

/* Zero it to begin. mirror_table_done frees its memory, but not the values. */
struct mirror_table {
	struct mirror_entry *entries; /* open addressing; the size is a power of two */
	size_t n_places, count;
};

/* The entry of that name, created if missing (`kept` is NULL). Valid until the next put or drop. */
struct mirror_entry *mirror_table_put(struct mirror_table *table, const char *name) MUST_USE;
/* The value of that name; NULL: none. */
void *mirror_table_get(const struct mirror_table *table, const char *name);
/* Removes the entry of that name, if it exists. */
void mirror_table_drop(struct mirror_table *table, const char *name);
/* Walks the entries in no order: for (i = 0; (entry = mirror_table_next(table, &i));). Do not put
 * or drop entries meanwhile. The second function gives the values, none of which may be NULL. */
struct mirror_entry *mirror_table_next(const struct mirror_table *table, size_t *place);
void *mirror_table_next_value(const struct mirror_table *table, size_t *place);
void mirror_table_done(struct mirror_table *table);

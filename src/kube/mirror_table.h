/* Objects by name: what a mirror keeps of each is the caller's, here it is a pointer. */
#pragma once

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mirror_entry {
	char *name; /* NULL: free */
	void *kept;
	uint64_t seen; /* in which list it was seen last */
};

/* Zero it to begin. Its memory is mirror_table_done's; what is kept is the caller's. */
struct mirror_table {
	struct mirror_entry *entries; /* open addressing; a power of two of them */
	size_t n_places, count;
};

/* NULL when there is none. Pointers to entries live until the next put or remove. */
struct mirror_entry *mirror_table_find(const struct mirror_table *table, const char *name);
/* The entry of that name, made when there is none (with `kept` NULL). */
struct mirror_entry *mirror_table_put(struct mirror_table *table, const char *name) MUST_USE;
void mirror_table_remove(struct mirror_table *table, struct mirror_entry *entry);
/* Walks them in no order: for (i = 0; (entry = mirror_table_next(table, &i));). Nothing may be put
 * or removed meanwhile. */
struct mirror_entry *mirror_table_next(const struct mirror_table *table, size_t *place);
void mirror_table_done(struct mirror_table *table);

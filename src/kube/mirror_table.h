/* A table of objects by name. The values are pointers that the caller owns. */
#pragma once

#include "base/own.h"

#include <sys/queue.h>

struct mirror_entry {
	TAILQ_ENTRY(mirror_entry) link;
	char *name;
	void *kept;
	uint64_t seen; /* number of the list in which it was last seen */
};

/* Zero it to begin. mirror_table_done frees its memory, but not the values. */
struct mirror_table {
	TAILQ_HEAD(, mirror_entry) entries; /* in the order in which they were put */
	void *tree; /* of the same, by name (tsearch(3)) */
	size_t count;
};

/* The entry of that name, created if missing (`kept` is NULL). */
struct mirror_entry *mirror_table_put(struct mirror_table *table, const char *name) MUST_USE;
/* The value of that name; NULL: none. */
void *mirror_table_get(const struct mirror_table *table, const char *name);
/* Removes the entry of that name, if it exists. The name may be the entry's own. */
void mirror_table_drop(struct mirror_table *table, const char *name);
/* Walks the values, none of which may be NULL: for (at = NULL; (value = mirror_table_next(table,
 * &at));). The entry of the value that was returned last must not be dropped meanwhile. */
void *mirror_table_next(const struct mirror_table *table, const void **place);
void mirror_table_done(struct mirror_table *table);

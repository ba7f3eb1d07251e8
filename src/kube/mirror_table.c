/* A tree of the C library finds the entries, and a list keeps them in order. */
#include "kube/mirror_table.h"

#include "base/mem.h"

#include <search.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const struct mirror_entry *first = a, *second = b;

	return strcmp(first->name, second->name);
}

static struct mirror_entry *find_entry(const struct mirror_table *table, const char *name)
{
	const struct mirror_entry wanted = {.name = (char *) name};
	struct mirror_entry *const *found = tfind(&wanted, &table->tree, by_name);

	return found ? *found : NULL;
}

static void free_entry(void *data)
{
	struct mirror_entry *entry = data;

	free(entry->name);
	free(entry);
}

struct mirror_entry *mirror_table_put(struct mirror_table *table, const char *name)
{
	struct mirror_entry *entry = find_entry(table, name);

	if (entry)
		return entry;
	entry = mem_new(sizeof(*entry));
	entry->name = mem_copy_text(name);
	if (!tsearch(entry, &table->tree, by_name))
		mem_abort();
	if (table->count++ == 0)
		TAILQ_INIT(&table->entries);
	TAILQ_INSERT_TAIL(&table->entries, entry, link);
	return entry;
}

void mirror_table_drop(struct mirror_table *table, const char *name)
{
	struct mirror_entry *entry = find_entry(table, name);

	if (!entry)
		return;
	tdelete(entry, &table->tree, by_name);
	TAILQ_REMOVE(&table->entries, entry, link);
	table->count--;
	free_entry(entry);
}

void *mirror_table_get(const struct mirror_table *table, const char *name)
{
	const struct mirror_entry *entry = find_entry(table, name);

	return entry ? entry->kept : NULL;
}

void *mirror_table_next(const struct mirror_table *table, const void **place)
{
	const struct mirror_entry *last = *place;
	const struct mirror_entry *next =
		last ? TAILQ_NEXT(last, link) : TAILQ_FIRST(&table->entries);

	*place = next;
	return next ? next->kept : NULL;
}

void mirror_table_done(struct mirror_table *table)
{
	tdestroy(table->tree, free_entry);
	*table = (struct mirror_table){0};
}

/* Linear probing. A removal moves later entries forward, so that no search meets a gap. */
#include "kube/mirror_table.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

#define FEWEST_PLACES 16

/* Names come from the cluster, not from an attacker: a user who may create Pods can do worse. */
static size_t mirror_place_of(const struct mirror_table *table, const char *name)
{
	return (size_t) (hash_add(HASH_BEGIN, name, strlen(name)) & (table->n_places - 1));
}

/* The place of the name, or the free place for it. */
static struct mirror_entry *find_place(const struct mirror_table *table, const char *name)
{
	size_t place = mirror_place_of(table, name);

	while (table->entries[place].name && strcmp(table->entries[place].name, name) != 0)
		place = (place + 1) & (table->n_places - 1);
	return &table->entries[place];
}

/* At most two thirds are in use. */
static void grow(struct mirror_table *table)
{
	struct mirror_table larger = {.n_places = table->n_places ? table->n_places * 2
								  : FEWEST_PLACES};

	if (table->n_places && (table->count + 1) * 3 <= table->n_places * 2)
		return;
	larger.entries = mem_new_array(larger.n_places, sizeof(*larger.entries));
	for (size_t i = 0; i < table->n_places; i++)
		if (table->entries[i].name)
			*find_place(&larger, table->entries[i].name) = table->entries[i];
	free(table->entries);
	table->entries = larger.entries;
	table->n_places = larger.n_places;
}

struct mirror_entry *mirror_table_put(struct mirror_table *table, const char *name)
{
	grow(table);
	struct mirror_entry *entry = find_place(table, name);

	if (!entry->name) {
		entry->name = mem_copy_text(name);
		table->count++;
	}
	return entry;
}

void mirror_table_drop(struct mirror_table *table, const char *name)
{
	struct mirror_entry *entry = table->n_places ? find_place(table, name) : NULL;

	if (!entry || !entry->name)
		return;
	size_t mask = table->n_places - 1, gap = (size_t) (entry - table->entries);

	free(entry->name);
	table->entries[gap] = (struct mirror_entry){0};
	table->count--;
	for (size_t place = (gap + 1) & mask; table->entries[place].name;
	     place = (place + 1) & mask) {
		size_t home = mirror_place_of(table, table->entries[place].name);

		/* An entry may move to the gap unless its home is between the two. */
		if (((place - home) & mask) < ((place - gap) & mask))
			continue;
		table->entries[gap] = table->entries[place];
		table->entries[place] = (struct mirror_entry){0};
		gap = place;
	}
}

void *mirror_table_get(const struct mirror_table *table, const char *name)
{
	const struct mirror_entry *entry = table->n_places ? find_place(table, name) : NULL;

	return entry ? entry->kept : NULL;
}

struct mirror_entry *mirror_table_next(const struct mirror_table *table, size_t *place)
{
	while (*place < table->n_places) {
		struct mirror_entry *entry = &table->entries[(*place)++];

		if (entry->name)
			return entry;
	}
	return NULL;
}

void *mirror_table_next_value(const struct mirror_table *table, size_t *place)
{
	const struct mirror_entry *entry = mirror_table_next(table, place);

	return entry ? entry->kept : NULL;
}

void mirror_table_done(struct mirror_table *table)
{
	for (size_t i = 0; i < table->n_places; i++)
		free(table->entries[i].name);
	free(table->entries);
	*table = (struct mirror_table){0};
}

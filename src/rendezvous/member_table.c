#include "rendezvous/member_table.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void member_free(struct member_entry *member)
{
	free(member->id);
	free(member->offer);
	free(member->key);
	free(member);
}

void member_table_done(struct member_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		member_free(table->members[i]);
	free(table->members);
	*table = (struct member_table){0};
}

/* The position of the id, or the position to insert it at. */
static size_t member_place_of(const struct member_table *table, const char *id)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(table->members[middle]->id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct member_entry *member_table_find(const struct member_table *table, const char *id)
{
	size_t place = member_place_of(table, id);
	bool is_there = place < table->count && strcmp(table->members[place]->id, id) == 0;

	return is_there ? table->members[place] : NULL;
}

struct member_entry *member_table_add(struct member_table *table, const char *id)
{
	size_t place = member_place_of(table, id);
	struct member_entry *member = mem_new(sizeof(*member));

	member->id = mem_copy_text(id);
	member->number = table->n_ever++;
	member->rank = -1;
	member->acknowledge_by = INSTANT_NEVER;
	mem_grow(&table->members, &table->capacity, table->count, sizeof(struct member_entry *));
	memmove(table->members + place + 1, table->members + place,
		(table->count - place) * sizeof(struct member_entry *));
	table->members[place] = member;
	table->count++;
	return member;
}

void member_table_remove(struct member_table *table, struct member_entry *member)
{
	size_t place = member_place_of(table, member->id);

	table->count--;
	memmove(table->members + place, table->members + place + 1,
		(table->count - place) * sizeof(struct member_entry *));
	member_free(member);
}

static int compare_places(const void *a, const void *b)
{
	const struct member_entry *left = *(struct member_entry *const *) a;
	const struct member_entry *right = *(struct member_entry *const *) b;

	if (left->is_excluded != right->is_excluded)
		return left->is_excluded ? 1 : -1;
	if (left->node_rank != right->node_rank)
		return left->node_rank < right->node_rank ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

struct member_entry **member_table_candidates(const struct member_table *table, size_t *ret_count)
{
	struct member_entry **candidates =
		mem_new_array(table->count + 1, sizeof(struct member_entry *));
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		if (!table->members[i]->is_leaving)
			candidates[count++] = table->members[i];
	qsort(candidates, count, sizeof(struct member_entry *), compare_places);
	*ret_count = count;
	return candidates;
}

size_t member_table_count_preferred(const struct member_table *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += !table->members[i]->is_leaving && !table->members[i]->is_excluded;
	return count;
}

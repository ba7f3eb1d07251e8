/* The sorted keys; for each tenant its waiting keys, by due time and then by order of arrival; and
 * the next tenant. */
#include "reconcile/queue.h"

#include "base/backoff.h"
#include "base/mem.h"
#include "reconcile/fair_share.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *key;
	struct tenant *tenant;
	instant due; /* INSTANT_NEVER: not waiting */
	int64_t number; /* of the add; the lower number goes first of two with the same due time */
	int n_failures;
	bool is_behind;
	bool is_in_flight; /* then it does not wait, even if it is due */
	bool is_removed; /* while it was in flight */
};

struct waiting {
	struct entry **list; /* sorted so that the last one is next */
	size_t count;
	size_t capacity;
};

struct tenant {
	char *name;
	size_t n_entries; /* including those in flight */
	size_t n_in_flight;
	size_t n_taken;
	struct waiting ahead, behind;
};

struct queue {
	msec first_pause, longest_pause;
	size_t most, n_in_flight;
	struct entry **entries; /* by key */
	size_t n_entries;
	size_t entries_capacity;
	struct tenant **tenants;
	size_t n_tenants;
	size_t tenants_capacity;
	size_t turn; /* index of the tenant that is served first */
	int64_t n_adds;
};

struct queue *queue_new(msec first_pause, msec longest_pause, size_t most)
{
	struct queue *queue = mem_new(sizeof(*queue));

	assert(first_pause > 0 && longest_pause >= first_pause && most > 0);
	queue->most = most;
	queue->first_pause = first_pause;
	queue->longest_pause = longest_pause;
	return queue;
}

static void entry_free(struct entry *entry)
{
	free(entry->key);
	free(entry);
}

static void tenant_free(struct tenant *tenant)
{
	free(tenant->name);
	free(tenant->ahead.list);
	free(tenant->behind.list);
	free(tenant);
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < queue->n_entries; i++)
		entry_free(queue->entries[i]);
	for (size_t i = 0; i < queue->n_tenants; i++)
		tenant_free(queue->tenants[i]);
	free(queue->entries);
	free(queue->tenants);
	free(queue);
}

/* A sorted list; keeping it sorted moves only a few bytes per key. */
static void insert(void *list, size_t *count, size_t place, void *element)
{
	void **elements = list;

	memmove(elements + place + 1, elements + place, (*count - place) * sizeof(*elements));
	elements[place] = element;
	(*count)++;
}

static void remove_queue_element(void *list, size_t *count, size_t place)
{
	void **elements = list;

	(*count)--;
	memmove(elements + place, elements + place + 1, (*count - place) * sizeof(*elements));
}

/* Waiting keys. */

static bool is_before(const struct entry *a, const struct entry *b)
{
	return instant_is_before(a->due, b->due) ||
	       (!instant_is_before(b->due, a->due) && a->number < b->number);
}

static struct waiting *list_of(const struct entry *entry)
{
	return entry->is_behind ? &entry->tenant->behind : &entry->tenant->ahead;
}

/* Its position in the list, or the position to insert it at. */
static size_t waiting_place_of(const struct entry *entry)
{
	const struct waiting *waiting = list_of(entry);
	size_t low = 0, high = waiting->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (is_before(entry, waiting->list[middle]))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void begin_to_wait(struct entry *entry)
{
	struct waiting *waiting = list_of(entry);

	mem_grow(&waiting->list, &waiting->capacity, waiting->count, sizeof(*waiting->list));
	insert(waiting->list, &waiting->count, waiting_place_of(entry), entry);
}

static void end_to_wait(struct entry *entry)
{
	struct waiting *waiting = list_of(entry);

	remove_queue_element(waiting->list, &waiting->count, waiting_place_of(entry));
}

/* Keys and tenants. */

/* The position of the key, or the position to insert it at. */
static size_t find_queue_entry(const struct queue *queue, const char *key, bool *ret_is_there)
{
	size_t low = 0, high = queue->n_entries;

	*ret_is_there = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(queue->entries[middle]->key, key);

		if (order < 0)
			low = middle + 1;
		else
			high = middle;
		*ret_is_there |= order == 0;
	}
	return low;
}

static struct tenant *need_tenant(struct queue *queue, const char *name)
{
	for (size_t i = 0; i < queue->n_tenants; i++)
		if (strcmp(queue->tenants[i]->name, name) == 0)
			return queue->tenants[i];
	struct tenant *tenant = mem_new(sizeof(*tenant));

	tenant->name = mem_copy_text(name);
	mem_grow(&queue->tenants, &queue->tenants_capacity, queue->n_tenants,
		 sizeof(*queue->tenants));
	queue->tenants[queue->n_tenants++] = tenant;
	return tenant;
}

static struct entry *need_entry(struct queue *queue, const char *tenant, const char *key)
{
	bool is_there;
	size_t place = find_queue_entry(queue, key, &is_there);

	if (is_there)
		return queue->entries[place];
	struct entry *entry = mem_new(sizeof(*entry));

	*entry = (struct entry){.key = mem_copy_text(key),
				.tenant = need_tenant(queue, tenant),
				.due = INSTANT_NEVER};
	entry->tenant->n_entries++;
	mem_grow(&queue->entries, &queue->entries_capacity, queue->n_entries,
		 sizeof(*queue->entries));
	insert(queue->entries, &queue->n_entries, place, entry);
	return entry;
}

static void drop_queue_tenant(struct queue *queue, struct tenant *tenant)
{
	size_t i = 0;

	while (queue->tenants[i] != tenant)
		i++;
	remove_queue_element(queue->tenants, &queue->n_tenants, i);
	if (queue->turn > i)
		queue->turn--;
	tenant_free(tenant);
}

static void delete_queue_entry(struct queue *queue, size_t place)
{
	struct entry *entry = queue->entries[place];

	remove_queue_element(queue->entries, &queue->n_entries, place);
	if (--entry->tenant->n_entries == 0)
		drop_queue_tenant(queue, entry->tenant);
	entry_free(entry);
}

/* The queue. */

static void schedule_queue_entry(struct queue *queue, struct entry *entry, instant due,
				 bool is_behind)
{
	bool was_due = !instant_is_never(entry->due);

	is_behind &= !was_due || entry->is_behind;
	if (!instant_is_before(due, entry->due) && is_behind == entry->is_behind)
		return;
	if (was_due && !entry->is_in_flight)
		end_to_wait(entry);
	if (instant_is_before(due, entry->due)) {
		entry->due = due;
		entry->number = queue->n_adds++;
	}
	entry->is_behind = is_behind;
	if (!entry->is_in_flight)
		begin_to_wait(entry);
}

static void add_key(struct queue *queue, const char *tenant, const char *key, instant due,
		    bool is_behind)
{
	struct entry *entry = need_entry(queue, tenant, key);

	assert(!instant_is_never(due));
	entry->is_removed = false;
	schedule_queue_entry(queue, entry, due, is_behind);
}

void queue_add(struct queue *queue, const char *tenant, const char *key, instant due)
{
	add_key(queue, tenant, key, due, false);
}

void queue_add_behind(struct queue *queue, const char *tenant, const char *key, instant due)
{
	add_key(queue, tenant, key, due, true);
}

/* No more than `most` are ever in flight, so the difference is not negative. */
static bool may_start_for_tenant(const struct queue *queue, const struct tenant *tenant)
{
	return fair_share_allows(tenant->n_in_flight, queue->most - queue->n_in_flight);
}

static instant due_of(const struct waiting *waiting)
{
	return waiting->count ? waiting->list[waiting->count - 1]->due : INSTANT_NEVER;
}

/* The list to take the next key from; NULL: none is due. */
static struct waiting *next_of(struct tenant *tenant, instant now)
{
	bool is_behind_due = instant_has_come(due_of(&tenant->behind), now);

	if (!instant_has_come(due_of(&tenant->ahead), now))
		return is_behind_due ? &tenant->behind : NULL;
	return is_behind_due && tenant->n_taken % QUEUE_TURNS == QUEUE_TURNS - 1 ? &tenant->behind
										 : &tenant->ahead;
}

static void count_flight(struct queue *queue, struct entry *entry, bool is_in_flight)
{
	size_t change = is_in_flight ? 1 : (size_t) -1;

	entry->is_in_flight = is_in_flight;
	entry->tenant->n_in_flight += change;
	queue->n_in_flight += change;
}

const char *queue_take(struct queue *queue, instant now)
{
	for (size_t i = 0; i < queue->n_tenants; i++) {
		size_t asked = (queue->turn + i) % queue->n_tenants;
		struct tenant *tenant = queue->tenants[asked];
		struct waiting *waiting =
			may_start_for_tenant(queue, tenant) ? next_of(tenant, now) : NULL;

		if (!waiting)
			continue;
		struct entry *entry = waiting->list[--waiting->count];

		tenant->n_taken++;
		entry->due = INSTANT_NEVER;
		count_flight(queue, entry, true);
		queue->turn = asked + 1;
		return entry->key;
	}
	return NULL;
}

void queue_done(struct queue *queue, const char *key, bool has_failed, instant now)
{
	bool is_there;
	size_t place = find_queue_entry(queue, key, &is_there);

	assert(is_there && queue->entries[place]->is_in_flight);
	struct entry *entry = queue->entries[place];
	instant due = entry->due; /* if it was added meanwhile */

	count_flight(queue, entry, false);
	entry->due = INSTANT_NEVER;
	entry->n_failures = has_failed ? entry->n_failures + 1 : 0;
	if (has_failed && !entry->is_removed)
		due = instant_min(due, instant_add(now, backoff_pause(queue->first_pause,
								      queue->longest_pause,
								      entry->n_failures)));
	if (instant_is_never(due))
		delete_queue_entry(queue, place);
	else
		schedule_queue_entry(queue, entry, due, entry->is_behind);
}

void queue_remove(struct queue *queue, const char *key)
{
	bool is_there;
	size_t place = find_queue_entry(queue, key, &is_there);

	if (!is_there)
		return;
	struct entry *entry = queue->entries[place];

	if (entry->is_in_flight) {
		entry->due = INSTANT_NEVER;
		entry->is_removed = true;
	} else {
		end_to_wait(entry);
		delete_queue_entry(queue, place);
	}
}

instant queue_wake_at(const struct queue *queue)
{
	instant wake_at = INSTANT_NEVER;

	for (size_t i = 0; i < queue->n_tenants; i++) {
		const struct tenant *tenant = queue->tenants[i];

		if (may_start_for_tenant(queue, tenant))
			wake_at = instant_min(wake_at, instant_min(due_of(&tenant->ahead),
								   due_of(&tenant->behind)));
	}
	return wake_at;
}

size_t queue_depth(const struct queue *queue, instant now)
{
	size_t depth = 0;

	for (size_t i = 0; i < queue->n_entries; i++)
		depth += queue->entries[i]->is_in_flight ||
			 instant_has_come(queue->entries[i]->due, now);
	return depth;
}

size_t queue_count(const struct queue *queue)
{
	return queue->n_entries;
}

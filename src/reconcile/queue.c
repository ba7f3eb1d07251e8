/* The sorted keys; for each tenant its waiting keys, by due time and arrival; the next tenant. */
#include "reconcile/queue.h"

#include "base/backoff.h"
#include "base/mem.h"
#include "reconcile/fair_share.h"

#include <assert.h>
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

/* Keeping it sorted moves only a few bytes per entry. */
struct sorted {
	struct entry **list;
	size_t count, capacity;
	bool (*is_lower)(const struct entry *listed, const struct entry *entry);
};

struct tenant {
	char *name;
	size_t n_entries; /* including those in flight */
	size_t n_in_flight;
	size_t n_taken;
	struct sorted ahead, behind; /* waiting keys; the last one is next */
};

struct queue {
	msec first_pause, longest_pause;
	size_t most, n_in_flight;
	struct sorted entries; /* by key */
	struct tenant **tenants;
	size_t n_tenants;
	size_t tenants_capacity;
	size_t turn; /* index of the tenant that is served first */
	int64_t n_adds;
};

static bool has_lower_key(const struct entry *listed, const struct entry *entry)
{
	return strcmp(listed->key, entry->key) < 0;
}

struct queue *queue_new(msec first_pause, msec longest_pause, size_t most)
{
	struct queue *queue = mem_new(sizeof(*queue));

	assert(first_pause > 0 && longest_pause >= first_pause && most > 0);
	queue->most = most;
	queue->first_pause = first_pause;
	queue->longest_pause = longest_pause;
	queue->entries.is_lower = has_lower_key;
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
	for (size_t i = 0; i < queue->entries.count; i++)
		entry_free(queue->entries.list[i]);
	for (size_t i = 0; i < queue->n_tenants; i++)
		tenant_free(queue->tenants[i]);
	free(queue->entries.list);
	free(queue->tenants);
	free(queue);
}

/* Sorted lists. */

/* The position of the entry, or the position to insert it at. */
static size_t place_in(const struct sorted *sorted, const struct entry *entry)
{
	size_t low = 0, high = sorted->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sorted->is_lower(sorted->list[middle], entry))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct sorted *sorted, struct entry *entry)
{
	size_t place = place_in(sorted, entry);

	mem_grow(&sorted->list, &sorted->capacity, sorted->count, sizeof(*sorted->list));
	struct entry **at = sorted->list + place;

	memmove(at + 1, at, (sorted->count++ - place) * sizeof(*at));
	*at = entry;
}

static void take_out(struct sorted *sorted, const struct entry *entry)
{
	size_t place = place_in(sorted, entry);
	struct entry **at = sorted->list + place;

	memmove(at, at + 1, (--sorted->count - place) * sizeof(*at));
}

static bool is_due_later(const struct entry *listed, const struct entry *entry)
{
	return instant_is_before(entry->due, listed->due) ||
	       (!instant_is_before(listed->due, entry->due) && entry->number < listed->number);
}

/* Where it waits. */
static struct sorted *list_of(const struct entry *entry)
{
	return entry->is_behind ? &entry->tenant->behind : &entry->tenant->ahead;
}

/* Keys and tenants. */

/* NULL: unknown. */
static struct entry *find_queue_entry(const struct queue *queue, const char *key)
{
	const struct sorted *entries = &queue->entries;
	size_t place = place_in(entries, &(struct entry){.key = (char *) key});

	return place < entries->count && strcmp(entries->list[place]->key, key) == 0
		       ? entries->list[place]
		       : NULL;
}

static struct tenant *need_tenant(struct queue *queue, const char *name)
{
	for (size_t i = 0; i < queue->n_tenants; i++)
		if (strcmp(queue->tenants[i]->name, name) == 0)
			return queue->tenants[i];
	struct tenant *tenant = mem_new(sizeof(*tenant));

	tenant->name = mem_copy_text(name);
	tenant->ahead.is_lower = tenant->behind.is_lower = is_due_later;
	mem_grow(&queue->tenants, &queue->tenants_capacity, queue->n_tenants,
		 sizeof(*queue->tenants));
	queue->tenants[queue->n_tenants++] = tenant;
	return tenant;
}

static struct entry *need_entry(struct queue *queue, const char *tenant, const char *key)
{
	struct entry *entry = find_queue_entry(queue, key);

	if (entry)
		return entry;
	entry = mem_new(sizeof(*entry));
	*entry = (struct entry){.key = mem_copy_text(key),
				.tenant = need_tenant(queue, tenant),
				.due = INSTANT_NEVER};
	entry->tenant->n_entries++;
	insert(&queue->entries, entry);
	return entry;
}

static void delete_queue_entry(struct queue *queue, struct entry *entry)
{
	struct tenant *tenant = entry->tenant;
	size_t i = 0;

	take_out(&queue->entries, entry);
	entry_free(entry);
	if (--tenant->n_entries > 0)
		return;
	while (queue->tenants[i] != tenant)
		i++;
	memmove(queue->tenants + i, queue->tenants + i + 1,
		(--queue->n_tenants - i) * sizeof(*queue->tenants));
	if (queue->turn > i)
		queue->turn--;
	tenant_free(tenant);
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
		take_out(list_of(entry), entry);
	if (instant_is_before(due, entry->due)) {
		entry->due = due;
		entry->number = queue->n_adds++;
	}
	entry->is_behind = is_behind;
	if (!entry->is_in_flight)
		insert(list_of(entry), entry);
}

void queue_add(struct queue *queue, const char *tenant, const char *key, instant due,
	       bool is_behind)
{
	struct entry *entry = need_entry(queue, tenant, key);

	assert(!instant_is_never(due));
	entry->is_removed = false;
	schedule_queue_entry(queue, entry, due, is_behind);
}

/* No more than `most` are ever in flight, so the difference is not negative. */
static bool may_start_for_tenant(const struct queue *queue, const struct tenant *tenant)
{
	return fair_share_allows(tenant->n_in_flight, queue->most - queue->n_in_flight);
}

static instant due_of(const struct sorted *waiting)
{
	return waiting->count ? waiting->list[waiting->count - 1]->due : INSTANT_NEVER;
}

/* The list to take the next key from; NULL: none is due. */
static struct sorted *next_of(struct tenant *tenant, instant now)
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
		struct sorted *waiting =
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
	struct entry *entry = find_queue_entry(queue, key);

	assert(entry && entry->is_in_flight);
	instant due = entry->due; /* if it was added meanwhile */

	count_flight(queue, entry, false);
	entry->due = INSTANT_NEVER;
	entry->n_failures = has_failed ? entry->n_failures + 1 : 0;
	if (has_failed && !entry->is_removed)
		due = instant_min(due, instant_add(now, backoff_pause(queue->first_pause,
								      queue->longest_pause,
								      entry->n_failures)));
	if (instant_is_never(due))
		delete_queue_entry(queue, entry);
	else
		schedule_queue_entry(queue, entry, due, entry->is_behind);
}

void queue_remove(struct queue *queue, const char *key)
{
	struct entry *entry = find_queue_entry(queue, key);

	if (!entry)
		return;
	if (entry->is_in_flight) {
		entry->due = INSTANT_NEVER;
		entry->is_removed = true;
	} else {
		take_out(list_of(entry), entry);
		delete_queue_entry(queue, entry);
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

	for (size_t i = 0; i < queue->entries.count; i++)
		depth += queue->entries.list[i]->is_in_flight ||
			 instant_has_come(queue->entries.list[i]->due, now);
	return depth;
}

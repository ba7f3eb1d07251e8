#include "kube/request_limiter.h"

#include "base/hash.h"
#include "reconcile/fair_share.h"

#define CHANGES_FOR_ANOTHER 8 /* changes for each other request, while changes wait */

static const struct {
	size_t most, most_beside_changes;
} limits[REQUEST_KIND_COUNT] = {
	[REQUEST_CHANGE] = {18, 18},
	[REQUEST_STREAM] = {36, 2},
	[REQUEST_EVENT] = {9, 2},
};

static size_t room(const struct request_limiter *limiter, enum request_kind kind)
{
	const struct request_line *line = &limiter->lines[kind];
	bool is_beside = kind != REQUEST_CHANGE && limiter->lines[REQUEST_CHANGE].n_taken > 0;
	size_t most = is_beside ? limits[kind].most_beside_changes : limits[kind].most;

	return line->n_taken < most ? most - line->n_taken : 0;
}

static bool may_claim_slot(const struct request_limiter *limiter, enum request_kind kind,
			   unsigned queue)
{
	const struct request_line *line = &limiter->lines[kind];

	if (kind != REQUEST_CHANGE && limiter->lines[REQUEST_CHANGE].queues[queue].first &&
	    line->n_changes_since < CHANGES_FOR_ANOTHER)
		return false;
	return fair_share_allows(line->queues[queue].n_taken, room(limiter, kind));
}

static void claim_slot(struct request_slot *slot)
{
	struct request_line *lines = slot->limiter->lines;

	slot->is_taken = true;
	lines[slot->kind].queues[slot->queue].n_taken++;
	lines[slot->kind].n_taken++;
	lines[slot->kind].n_changes_since = 0;
	for (int kind = 0; kind < REQUEST_KIND_COUNT && slot->kind == REQUEST_CHANGE; kind++)
		lines[kind].n_changes_since++;
}

static void join_queue(struct request_slot *slot)
{
	struct request_line *line = &slot->limiter->lines[slot->kind];
	struct request_queue *queue = &line->queues[slot->queue];

	slot->previous = queue->last;
	*(queue->last ? &queue->last->next : &queue->first) = slot;
	queue->last = slot;
	line->n_waiting++;
}

static void leave_queue(struct request_slot *slot)
{
	struct request_line *line = &slot->limiter->lines[slot->kind];
	struct request_queue *queue = &line->queues[slot->queue];

	*(slot->previous ? &slot->previous->next : &queue->first) = slot->next;
	*(slot->next ? &slot->next->previous : &queue->last) = slot->previous;
	slot->previous = slot->next = NULL;
	line->n_waiting--;
}

bool request_slot_acquire(struct request_slot *slot, struct request_limiter *limiter,
			  enum request_kind kind, const char *tenant, void (*on_slot)(void *data),
			  void *data)
{
	if (slot->limiter)
		return slot->is_taken;
	*slot = (struct request_slot){
		.limiter = limiter,
		.kind = kind,
		.queue = (unsigned) (hash_add_text(HASH_BEGIN, tenant) % REQUEST_QUEUES),
		.on_slot = on_slot,
		.data = data,
	};
	if (!limiter->lines[kind].queues[slot->queue].first &&
	    may_claim_slot(limiter, kind, slot->queue))
		claim_slot(slot);
	else
		join_queue(slot);
	return slot->is_taken;
}

static struct request_slot *next_slot_waiter(struct request_limiter *limiter)
{
	for (int kind = 0; kind < REQUEST_KIND_COUNT; kind++) {
		struct request_line *line = &limiter->lines[kind];

		for (unsigned i = 0; line->n_waiting > 0 && i < REQUEST_QUEUES; i++) {
			unsigned queue = (line->next_queue + i) % REQUEST_QUEUES;

			if (!line->queues[queue].first ||
			    !may_claim_slot(limiter, (enum request_kind) kind, queue))
				continue;
			line->next_queue = queue + 1;
			return line->queues[queue].first;
		}
	}
	return NULL;
}

/* A request that gets its slot may release it immediately, and so call this again. */
static void grant_free_slots(struct request_limiter *limiter)
{
	struct request_slot *slot;

	if (limiter->is_giving)
		return;
	limiter->is_giving = true;
	while ((slot = next_slot_waiter(limiter))) {
		leave_queue(slot);
		claim_slot(slot);
		slot->on_slot(slot->data);
	}
	limiter->is_giving = false;
}

void request_slot_release(struct request_slot *slot)
{
	struct request_limiter *limiter = slot->limiter;

	if (!limiter)
		return;
	if (slot->is_taken) {
		limiter->lines[slot->kind].queues[slot->queue].n_taken--;
		limiter->lines[slot->kind].n_taken--;
	} else {
		leave_queue(slot);
	}
	*slot = (struct request_slot){0};
	grant_free_slots(limiter);
}

#include "kube/turns.h"

#include "base/hash.h"
#include "reconcile/fair_share.h"

#define CHANGES_FOR_ANOTHER 8 /* while changes wait */

static const struct {
	size_t most, most_beside_changes;
} limits[TURN_KIND_COUNT] = {
	[TURN_CHANGE] = {18, 18},
	[TURN_STREAM] = {36, 2},
	[TURN_EVENT] = {9, 2},
};

static size_t room(const struct turns *turns, enum turn_kind kind)
{
	const struct turn_line *line = &turns->lines[kind];
	bool is_beside = kind != TURN_CHANGE && turns->lines[TURN_CHANGE].n_taken > 0;
	size_t most = is_beside ? limits[kind].most_beside_changes : limits[kind].most;

	return line->n_taken < most ? most - line->n_taken : 0;
}

static bool may_take(const struct turns *turns, enum turn_kind kind, unsigned queue)
{
	const struct turn_line *line = &turns->lines[kind];

	if (kind != TURN_CHANGE && turns->lines[TURN_CHANGE].queues[queue].first &&
	    line->n_changes_since < CHANGES_FOR_ANOTHER)
		return false;
	return fair_share_may_take(line->queues[queue].n_taken, room(turns, kind));
}

static void take(struct turn *turn)
{
	struct turn_line *lines = turn->turns->lines;

	turn->is_taken = true;
	lines[turn->kind].queues[turn->queue].n_taken++;
	lines[turn->kind].n_taken++;
	lines[turn->kind].n_changes_since = 0;
	for (int kind = 0; kind < TURN_KIND_COUNT && turn->kind == TURN_CHANGE; kind++)
		lines[kind].n_changes_since++;
}

static void join_queue(struct turn *turn)
{
	struct turn_line *line = &turn->turns->lines[turn->kind];
	struct turn_queue *queue = &line->queues[turn->queue];

	turn->previous = queue->last;
	*(queue->last ? &queue->last->next : &queue->first) = turn;
	queue->last = turn;
	line->n_waiting++;
}

static void leave_queue(struct turn *turn)
{
	struct turn_line *line = &turn->turns->lines[turn->kind];
	struct turn_queue *queue = &line->queues[turn->queue];

	*(turn->previous ? &turn->previous->next : &queue->first) = turn->next;
	*(turn->next ? &turn->next->previous : &queue->last) = turn->previous;
	turn->previous = turn->next = NULL;
	line->n_waiting--;
}

bool turn_take(struct turn *turn, struct turns *turns, enum turn_kind kind, const char *tenant,
	       void (*on_turn)(void *data), void *data)
{
	if (turn->turns)
		return turn->is_taken;
	*turn = (struct turn){
		.turns = turns,
		.kind = kind,
		.queue = (unsigned) (hash_add_text(HASH_BEGIN, tenant) % TURN_QUEUES),
		.on_turn = on_turn,
		.data = data,
	};
	if (!turns->lines[kind].queues[turn->queue].first && may_take(turns, kind, turn->queue))
		take(turn);
	else
		join_queue(turn);
	return turn->is_taken;
}

static struct turn *next_of_kind(struct turns *turns, enum turn_kind kind)
{
	struct turn_line *line = &turns->lines[kind];

	for (unsigned i = 0; line->n_waiting > 0 && i < TURN_QUEUES; i++) {
		unsigned queue = (line->next_queue + i) % TURN_QUEUES;

		if (!line->queues[queue].first || !may_take(turns, kind, queue))
			continue;
		line->next_queue = queue + 1;
		return line->queues[queue].first;
	}
	return NULL;
}

static struct turn *next_turn(struct turns *turns)
{
	struct turn *turn = NULL;

	for (int kind = 0; kind < TURN_KIND_COUNT && !turn; kind++)
		turn = next_of_kind(turns, (enum turn_kind) kind);
	return turn;
}

/* What gets its turn may end it at once, and so come here again. */
static void give(struct turns *turns)
{
	struct turn *turn;

	if (turns->is_giving)
		return;
	turns->is_giving = true;
	while ((turn = next_turn(turns))) {
		leave_queue(turn);
		take(turn);
		turn->on_turn(turn->data);
	}
	turns->is_giving = false;
}

void turn_end(struct turn *turn)
{
	struct turns *turns = turn->turns;

	if (!turns)
		return;
	if (turn->is_taken) {
		turns->lines[turn->kind].queues[turn->queue].n_taken--;
		turns->lines[turn->kind].n_taken--;
	} else {
		leave_queue(turn);
	}
	*turn = (struct turn){0};
	give(turns);
}

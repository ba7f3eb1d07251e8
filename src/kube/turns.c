#include "kube/turns.h"

#define MOST_CHANGES 32
#define MOST_STREAMS 32
#define MOST_STREAMS_BESIDE_CHANGES 2
#define CHANGES_FOR_A_STREAM 8 /* while others wait */

static bool has_room(const struct turns *turns, enum turn_kind kind)
{
	const struct turn_line *changes = &turns->lines[TURN_CHANGE];
	size_t n_taken = turns->lines[kind].n_taken;

	if (kind == TURN_CHANGE)
		return n_taken < MOST_CHANGES;
	if (changes->n_taken == 0)
		return n_taken < MOST_STREAMS;
	return n_taken < MOST_STREAMS_BESIDE_CHANGES &&
	       (!changes->first || turns->n_changes_since_stream >= CHANGES_FOR_A_STREAM);
}

static void take(struct turn *turn)
{
	struct turns *turns = turn->turns;

	turn->is_taken = true;
	turns->lines[turn->kind].n_taken++;
	turns->n_changes_since_stream =
		turn->kind == TURN_STREAM ? 0 : turns->n_changes_since_stream + 1;
}

bool turn_take(struct turn *turn, struct turns *turns, enum turn_kind kind,
	       void (*on_turn)(void *data), void *data)
{
	struct turn_line *line = &turns->lines[kind];

	if (turn->turns)
		return turn->is_taken;
	*turn = (struct turn){.turns = turns, .kind = kind, .on_turn = on_turn, .data = data};
	if (has_room(turns, kind)) {
		take(turn);
		return true;
	}
	*(line->last ? &line->last->next : &line->first) = turn;
	line->last = turn;
	return false;
}

static void leave_line(struct turn_line *line, struct turn *turn)
{
	struct turn **at = &line->first, *before = NULL;

	while (*at != turn) {
		before = *at;
		at = &before->next;
	}
	*at = turn->next;
	if (line->last == turn)
		line->last = before;
	turn->next = NULL;
}

static struct turn *next_turn(struct turns *turns)
{
	for (int kind = 0; kind < TURN_KIND_COUNT; kind++)
		if (turns->lines[kind].first && has_room(turns, (enum turn_kind) kind))
			return turns->lines[kind].first;
	return NULL;
}

/* What gets its turn may end it at once, and so come here again. */
static void give(struct turns *turns)
{
	struct turn *turn;

	if (turns->is_giving)
		return;
	turns->is_giving = true;
	while ((turn = next_turn(turns))) {
		leave_line(&turns->lines[turn->kind], turn);
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
	if (turn->is_taken)
		turns->lines[turn->kind].n_taken--;
	else
		leave_line(&turns->lines[turn->kind], turn);
	*turn = (struct turn){0};
	give(turns);
}

#include "kube/turns.h"

#define CHANGES_FOR_ANOTHER 8 /* while changes wait */

static const struct {
	size_t most, most_beside_changes;
} limits[TURN_KIND_COUNT] = {
	[TURN_CHANGE] = {32, 32},
	[TURN_STREAM] = {32, 2},
	[TURN_EVENT] = {8, 2},
};

static bool has_room(const struct turns *turns, enum turn_kind kind)
{
	const struct turn_line *changes = &turns->lines[TURN_CHANGE];
	const struct turn_line *line = &turns->lines[kind];

	if (kind == TURN_CHANGE || changes->n_taken == 0)
		return line->n_taken < limits[kind].most;
	return line->n_taken < limits[kind].most_beside_changes &&
	       (!changes->first || line->n_changes_since >= CHANGES_FOR_ANOTHER);
}

static void take(struct turn *turn)
{
	struct turn_line *lines = turn->turns->lines;

	turn->is_taken = true;
	lines[turn->kind].n_taken++;
	lines[turn->kind].n_changes_since = 0;
	for (int kind = 0; kind < TURN_KIND_COUNT && turn->kind == TURN_CHANGE; kind++)
		lines[kind].n_changes_since++;
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
	turn->previous = line->last;
	*(line->last ? &line->last->next : &line->first) = turn;
	line->last = turn;
	return false;
}

static void leave_line(struct turn_line *line, struct turn *turn)
{
	*(turn->previous ? &turn->previous->next : &line->first) = turn->next;
	*(turn->next ? &turn->next->previous : &line->last) = turn->previous;
	turn->previous = turn->next = NULL;
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

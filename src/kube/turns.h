/* Turns of calls: one budget for all jobs of a process. So many are under way at once, and the
 * others wait in the order in which they came, before anything is made for them. Pure.
 *
 * Changes keep any server busy at 32, and with fewer a distant one waits for us. A stream costs the
 * server a look at a node, and an Event is a write that only people wait for: while there are
 * changes, few of either are begun, and while changes wait, one for so many of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum turn_kind {
	TURN_CHANGE, /* a call that makes or ends an object */
	TURN_STREAM, /* a stream that is being opened */
	TURN_EVENT, /* an Event that is being sent */
	TURN_KIND_COUNT,
};

struct turn {
	struct turns *turns; /* NULL: it is neither taken nor waited for */
	enum turn_kind kind;
	bool is_taken;
	struct turn *previous, *next; /* in the line */
	void (*on_turn)(void *data);
	void *data;
};

struct turns {
	struct turn_line {
		struct turn *first, *last; /* that wait */
		size_t n_taken;
		size_t n_changes_since; /* changes that got their turn since this kind last did */
	} lines[TURN_KIND_COUNT];
	bool is_giving;
};

/* True: the turn is taken, now or already. False: it waits, and on_turn is called once when it is
 * taken, from the turn_end of another. The turn stays where it is until its end. */
bool turn_take(struct turn *turn, struct turns *turns, enum turn_kind kind,
	       void (*on_turn)(void *data), void *data);
/* It is over, or not wanted any more. Nothing happens where it was neither. */
void turn_end(struct turn *turn);

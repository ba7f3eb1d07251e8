/* Turns of calls: one budget for all jobs of a process. So many are under way at once, and the
 * others wait before anything is made for them: those of one tenant (a namespace) in the order in
 * which they came, and the tenants take their turns one after another. Pure.
 *
 * A tenant whose calls hang (behind a webhook of its own) must not hold all turns, and leaves some
 * (reconcile/fair_share.h). Tenants are told apart by a hash, as API Priority and Fairness tells
 * flows apart: two may share a queue.
 *
 * 16 changes at once keep two cores of a server busy. With more each takes longer, statuses too;
 * with fewer a distant server waits for us (docs/benchmarks.md, "muster operator"). A stream costs
 * the server a look at a node, and an Event is a write that only people wait for: while there are
 * changes, few of either are begun, and while changes of their tenant wait, one for so many. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum turn_kind {
	TURN_CHANGE, /* a call that makes or ends an object */
	TURN_STREAM, /* a stream that is being opened */
	TURN_EVENT, /* an Event that is being sent */
	TURN_KIND_COUNT,
};

#define TURN_QUEUES 64 /* tenants are shared out among so many */

struct turn {
	struct turns *turns; /* NULL: it is neither taken nor waited for */
	enum turn_kind kind;
	unsigned queue;
	bool is_taken;
	struct turn *previous, *next; /* in the queue */
	void (*on_turn)(void *data);
	void *data;
};

struct turns {
	struct turn_line {
		struct turn_queue {
			struct turn *first, *last; /* that wait */
			size_t n_taken;
		} queues[TURN_QUEUES];
		unsigned next_queue; /* that is asked first */
		size_t n_waiting, n_taken;
		size_t n_changes_since; /* changes that got their turn since this kind last did */
	} lines[TURN_KIND_COUNT];
	bool is_giving;
};

/* True: the turn is taken, now or already. False: it waits, and on_turn is called once when it is
 * taken, from the turn_end of another. The turn stays where it is until its end. */
bool turn_take(struct turn *turn, struct turns *turns, enum turn_kind kind, const char *tenant,
	       void (*on_turn)(void *data), void *data);
/* It is over, or not wanted any more. Nothing happens where it was neither. */
void turn_end(struct turn *turn);

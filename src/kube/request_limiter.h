/* Turns of calls: one budget for all jobs of a process. So many are under way at once, and the
 * others wait before anything is made for them: those of one tenant (a namespace) in the order in
 * which they came, and the tenants take their limiter one after another. Pure.
 *
 * A tenant whose calls hang (behind a webhook of its own) must not hold all limiter, and leaves
 * some (reconcile/fair_share.h). Tenants are told apart by a hash, as API Priority and Fairness
 * tells flows apart: two may share a queue.
 *
 * 16 changes at once keep two cores of a server busy. With more each takes longer, statuses too;
 * with fewer a distant server waits for us (docs/benchmarks.md, "muster operator"). A stream costs
 * the server a look at a node, and an Event is a write that only people wait for: while there are
 * changes, few of either are begun, and while changes of their tenant wait, one for so many. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum request_kind {
	REQUEST_CHANGE, /* a call that makes or ends an object */
	REQUEST_STREAM, /* a stream that is being opened */
	REQUEST_EVENT, /* an Event that is being sent */
	REQUEST_KIND_COUNT,
};

#define REQUEST_QUEUES 64 /* tenants are shared out among so many */

struct request_slot {
	struct request_limiter *limiter; /* NULL: it is neither taken nor waited for */
	enum request_kind kind;
	unsigned queue;
	bool is_taken;
	struct request_slot *previous, *next; /* in the queue */
	void (*on_slot)(void *data);
	void *data;
};

struct request_limiter {
	struct request_line {
		struct request_queue {
			struct request_slot *first, *last; /* that wait */
			size_t n_taken;
		} queues[REQUEST_QUEUES];
		unsigned next_queue; /* that is asked first */
		size_t n_waiting, n_taken;
		size_t n_changes_since; /* changes that got their slot since this kind last did */
	} lines[REQUEST_KIND_COUNT];
	bool is_giving;
};

/* True: the slot is taken, now or already. False: it waits, and on_slot is called once when it is
 * taken, from the request_slot_release of another. The slot stays where it is until its end. */
bool request_slot_acquire(struct request_slot *slot, struct request_limiter *limiter,
			  enum request_kind kind, const char *tenant, void (*on_slot)(void *data),
			  void *data);
/* It is over, or not wanted any more. Nothing happens where it was neither. */
void request_slot_release(struct request_slot *slot);

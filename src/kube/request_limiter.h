/* Limits the concurrent requests of all jobs of a process: each request needs a slot. Others wait
 * before anything is prepared for them. Requests of one tenant (a namespace) are served in their
 * order of arrival, and tenants take turns. Pure.
 *
 * A tenant whose requests hang (behind its own webhook) must not hold all slots, so some are
 * reserved for the others (reconcile/fair_share.h). Tenants are distinguished by a hash, as API
 * Priority and Fairness does with flows, so two may share a queue.
 *
 * Up to 16 changes of a tenant keep two cores of a server busy. With more each takes longer,
 * statuses too; with fewer a distant server waits for us (docs/benchmarks.md, "muster operator").
 * Opening a stream makes the server contact a node, and Events are read only by people. So few of
 * either are started while changes are under way, and only one for every 8 changes while changes of
 * their tenant wait. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum request_kind {
	REQUEST_CHANGE, /* a request that creates or deletes an object */
	REQUEST_STREAM, /* a stream that is being opened */
	REQUEST_EVENT, /* an Event that is being sent */
	REQUEST_KIND_COUNT,
};

#define REQUEST_QUEUES 64 /* tenants are distributed over this many queues */

struct request_slot {
	struct request_limiter *limiter; /* NULL: neither taken nor waiting */
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
			struct request_slot *first, *last; /* that wait for a slot */
			size_t n_taken;
		} queues[REQUEST_QUEUES];
		unsigned next_queue; /* served first at the next free slot */
		size_t n_waiting, n_taken;
		size_t n_changes_since; /* changes served since this kind was last served */
	} lines[REQUEST_KIND_COUNT];
	bool is_giving;
};

/* Returns true if the slot is taken, now or before. False: the request waits, and on_slot is called
 * once, from another's request_slot_release, when the slot is taken. Do not move `slot`. */
bool request_slot_acquire(struct request_slot *slot, struct request_limiter *limiter,
			  enum request_kind kind, const char *tenant, void (*on_slot)(void *data),
			  void *data);
/* Releases a slot or stops waiting for it. Does nothing if neither applies. */
void request_slot_release(struct request_slot *slot);

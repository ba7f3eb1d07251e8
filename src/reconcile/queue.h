/* Which job is looked at next: keys with due times, one pass at a time for each, equal turns for
 * tenants, and longer and longer pauses after what fails. Pure; the time is handed in.
 *
 * The model is client-go's workqueue, and for what waits behind controller-runtime's priority
 * queue. An event only says "look at this key": what comes for a key that waits already changes
 * nothing, and what comes while it is in flight is kept until that is done, so that no event is
 * lost and no key is worked on twice at once. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

#define QUEUE_TURNS 4 /* of so many turns of a tenant one is of a key that waits behind */

struct queue;

/* A key that fails is due again after `first_pause`, and each time in a row after twice as long, up
 * to `longest_pause`. Both are more than 0.
 *
 * At most `most` are in flight: what waits is worked on as it is when its turn comes, and once for
 * all that came by then. A tenant whose flights do not end leaves some to the others
 * (reconcile/fair_share.h). */
struct queue *queue_new(msec first_pause, msec longest_pause, size_t most) MUST_USE;
void queue_free(struct queue *queue); /* NULL is fine */

/* The key is due at `due`, or earlier if it was to be: also one that pauses after a failure, since
 * something has changed. It belongs to the tenant of its first add for as long as it is known. */
void queue_add(struct queue *queue, const char *tenant, const char *key, msec due);
/* The same of a key that can wait while others of its tenant are due: they go first, but of
 * QUEUE_TURNS turns one. It waits behind no more when it is added as others are. */
void queue_add_behind(struct queue *queue, const char *tenant, const char *key, msec due);
/* Takes a key that is due: of the tenant whose turn it is, the one that is due for longest of those
 * that do not wait behind, if it has any. NULL: none is due, or none may be in flight beside those
 * that are. The key is in flight, and the text is borrowed, until queue_done. */
const char *queue_take(struct queue *queue, msec now);
/* Ends the flight. A key that succeeded and was not added meanwhile is not known any more. */
void queue_done(struct queue *queue, const char *key, bool has_failed, msec now);
/* The key is not wanted any more, whatever is due; a flight of it has to be ended all the same. */
void queue_remove(struct queue *queue, const char *key);

/* When queue_take gives something at the earliest, if none is added or done before; MSEC_NEVER. */
msec queue_wake_at(const struct queue *queue);
/* Keys that are due, and those in flight: how far the work is behind. */
size_t queue_depth(const struct queue *queue, msec now);
size_t queue_count(const struct queue *queue); /* keys that are known: waiting or in flight */

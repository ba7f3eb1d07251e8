/* Which job is reconciled next: keys with due times, one pass at a time per key, turns for tenants,
 * and growing pauses after failures. Pure; the time is a parameter.
 *
 * The model is client-go's workqueue; low priority follows controller-runtime's priority queue. An
 * event only means "reconcile this key". An event for a waiting key changes nothing. One that
 * arrives during the key's pass is kept until the pass is done. So no event is lost and no key has
 * two passes at the same time. */
#pragma once

#include "base/instant.h"
#include "base/own.h"

#define QUEUE_TURNS 4 /* of this many turns of a tenant, one goes to a low-priority key */

struct queue;

/* A failing key is due again after `first_pause`, which doubles with each failure in a row, up to
 * `longest_pause`. Both are more than 0.
 *
 * At most `most` keys are in flight. The others wait, and one pass then handles all their events. A
 * tenant whose passes do not end leaves room for the others (reconcile/fair_share.h). */
struct queue *queue_new(msec first_pause, msec longest_pause, size_t most) MUST_USE;
void queue_free(struct queue *queue); /* NULL is fine */

/* Makes the key due at `due`, or at its present due time if that is earlier. This also ends a pause
 * after a failure, since something has changed. The key belongs to the tenant of its first add for
 * as long as it is known.
 *
 * `is_behind`: with low priority. Other due keys of the tenant go first, except in one of
 * QUEUE_TURNS turns; a later call without it ends that. */
void queue_add(struct queue *queue, const char *tenant, const char *key, instant due,
	       bool is_behind);
/* Takes a due key of the tenant whose turn it is: the one due for longest, low-priority keys last.
 * NULL: none is due, or too many are in flight. In flight, and borrowed, until queue_done. */
const char *queue_take(struct queue *queue, instant now);
/* Ends the pass. A key that succeeded and was not added meanwhile is dropped. */
void queue_done(struct queue *queue, const char *key, bool has_failed, instant now);
/* Drops the key and its due time; a pass in flight must still be ended. */
void queue_remove(struct queue *queue, const char *key);

/* When queue_take can return a key, without further adds or dones; or INSTANT_NEVER. */
instant queue_wake_at(const struct queue *queue);
/* Number of keys due or in flight: the backlog. */
size_t queue_depth(const struct queue *queue, instant now);

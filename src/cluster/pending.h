/* Starts and deletions of a job's Pods that the cache does not show yet, in a table by the Pod's
 * name. It makes no calls.
 *
 * An entry is for a name. Two calls can be in progress under a name at the same time: the deletion
 * of the Pod that has it, and the start of the next one. */
#pragma once

#include "base/mem.h"
#include "base/msec.h"
#include "kube/api.h"
#include "kube/mirror_table.h"
#include "pods/exec.h"
#include "reconcile/plan.h"

enum pending_start {
	PENDING_NO_START,
	PENDING_START_WAITS, /* until the previous Pod of its name was deleted; or for its slot */
	PENDING_START_CALLED, /* in progress, or answered; the cache does not show the Pod yet */
	PENDING_START_REFUSED, /* this call or a similar one; tried again at `again_at`, or when the
				  probing call succeeds */
	PENDING_START_IMPOSSIBLE, /* no server would ever accept this Pod */
};

struct kube_backend; /* cluster/backend_state.h */

struct pending {
	struct kube_backend *backend; /* for callbacks of its calls */
	char *pod_name;
	char *role;
	int index;

	enum pending_start start;
	int attempt; /* of the start */
	struct request_slot start_slot, end_slot; /* of the two calls */
	struct kube_call *start_call;
	char *started_uid; /* of the created Pod; NULL before the answer */
	int64_t started_version; /* its resourceVersion */
	const char *refusal_reason; /* its reason, one word */
	char *refusal; /* and its sentence */
	instant again_at;
	int n_refusals;
	bool asks_for_all; /* the probing call: whether starts are still rejected */
	bool is_start_told; /* its Event was sent */
	bool is_unwanted; /* a stop was requested before the answer; see asked_at, kill_at */

	char *ended_uid; /* of the Pod to be deleted; NULL: none */
	struct kube_call *end_call;
	bool is_end_told; /* its Event was sent; or another client deleted the Pod */
	bool is_end_put_off; /* this deletion or a similar one was rejected, */
	instant end_refused_at; /* at this time; INSTANT_UNSET: no call was made */
	bool end_asks_for_all; /* the probing call: whether deletions are still rejected */
	msec end_grace;
	msec asked_at, kill_at;
	bool is_removed; /* the Pod had already exited, and is no longer shown */
	bool end_waits; /* until its log was read; then the call is made */
	bool is_held; /* until its directories were fetched; then the call is made */
	instant held_until; /* the end of its grace period, if it is held */
	struct kube_exec *term; /* signals the process of a held Pod; in progress */
	instant tell_at; /* time of the next signal; INSTANT_NEVER: none */
	bool was_missed; /* a signal was not delivered */
	bool is_told, is_deaf; /* the process got the signal; it cannot be signaled */
};

void pending_table_done(struct mirror_table *table); /* cancels all calls */
/* The entry of this name, created if there is none. */
struct pending *pending_at(struct mirror_table *table, struct kube_backend *backend,
			   const char *pod_name, const char *role, int index);
/* The deletion, or the start, is over. */
void pending_drop_end(struct pending *pending);
void pending_drop_start(struct pending *pending);
/* Drops the entry when nothing is in progress for it. */
void pending_drop_if_idle(struct mirror_table *table, struct pending *pending);

/* Overlays what the cache shows of a Pod with its deletion; false: the Pod is no longer shown. */
bool pending_lay_over(const struct pending *pending, const char *uid,
		      struct observed_replica *replica);
/* The observation of a start; its texts are in the arena. */
struct observed_replica pending_observe_start(const struct pending *pending, struct arena *arena);

/* What was started with the Pods of a job and cannot be seen in the cache yet. A table, no calls.
 *
 * An entry stands for a name. Two things can be on their way under it at once: the end of the Pod
 * that has the name, and the start of the one that will have it. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "kube/api.h"
#include "kube/mirror_table.h"
#include "pods/exec.h"
#include "reconcile/observed.h"

#include <stdbool.h>
#include <stddef.h>

enum pending_start {
	PENDING_NO_START,
	PENDING_START_WAITS, /* for the name: the Pod before it is still there; or for its slot */
	PENDING_START_CALLED, /* the call is under way, or was answered; the cache does not show it
			       */
	PENDING_START_REFUSED, /* for now, or others were: it is tried again at `again_at`, or when
				  one that asks for all was not refused */
	PENDING_START_IMPOSSIBLE, /* no server would ever take this Pod */
};

struct pending {
	struct backend *backend; /* for callbacks of its calls */
	char *pod_name;
	char *role;
	int index;
	size_t place; /* in the table's entries */

	enum pending_start start;
	int attempt; /* that is started */
	struct request_slot start_turn, end_turn; /* of the two calls */
	struct kube_call *start_call;
	char *started_uid; /* of the Pod that was made; NULL before the answer */
	int64_t started_version; /* its resourceVersion */
	const char *refusal_reason; /* a word for it */
	char *refusal; /* why it was refused */
	msec again_at;
	int n_refusals;
	bool asks_for_all; /* whether starts are refused still */
	bool is_start_told; /* as an Event */
	bool is_unwanted; /* asked to end before there was an answer; asked_at, kill_at */

	char *ended_uid; /* of the Pod that was told to end; NULL: none */
	struct kube_call *end_call;
	bool is_end_told; /* as an Event; or others ended it before */
	bool is_end_put_off; /* it was refused, or others were, */
	msec end_refused_at; /* at this time; MSEC_UNSET: it was not called */
	bool end_asks_for_all; /* whether ends are refused still */
	msec end_grace;
	msec asked_at, kill_at;
	bool is_removed; /* it had ended before, and is to be seen no more */
	bool end_waits; /* for its log to be read; then the call is made */
	bool is_held; /* until what is in it was fetched; then the call is made */
	struct kube_exec *term; /* that tells the process of a held one to end, now */
	msec tell_at; /* when it is told again; MSEC_NEVER: it is not */
	bool was_missed; /* a telling did not come through */
	bool is_told, is_deaf; /* it has heard; it cannot be told so */
};

struct pending_table {
	struct pending **entries;
	size_t count, capacity;
	struct mirror_table by_name; /* the same */
};

void pending_table_done(struct pending_table *table); /* ends all calls */
struct pending *pending_find(const struct pending_table *table, const char *pod_name);
/* The entry of this name, made where there is none. */
struct pending *pending_at(struct pending_table *table, struct backend *backend,
			   const char *pod_name, const char *role, int index);
/* The end, or the start, is over. */
void pending_drop_end(struct pending *pending);
void pending_drop_start(struct pending *pending);
/* The Pod was seen, so that its start is over; a call that is not answered yet is still heard for
 * what the server warns of. */
void pending_confirm_start(struct pending *pending);
/* Drops the entry when nothing is under way any more. */
void pending_drop_if_idle(struct pending_table *table, struct pending *pending);

/* Lays an end over what the cache shows of a Pod; false when it is to be seen no more. */
bool pending_lay_over(const struct pending *pending, const char *uid,
		      struct observed_replica *replica);
/* What is to be seen of a start; its texts live in the arena. */
struct observed_replica pending_observe_start(const struct pending *pending, struct arena *arena);

#include "cluster/pending.h"

#include "status/failure_words.h"

static void free_entry(struct pending *pending)
{
	pending_drop_start(pending);
	pending_drop_end(pending);
	free(pending->pod_name);
	free(pending->role);
	free(pending);
}

/* Waiting calls leave the queue first, so that none starts when others end. */
void pending_table_done(struct mirror_table *table)
{
	struct pending *pending;

	for (const void *at = NULL; (pending = mirror_table_next(table, &at));) {
		if (!pending->start_slot.is_taken)
			request_slot_release(&pending->start_slot);
		if (!pending->end_slot.is_taken)
			request_slot_release(&pending->end_slot);
	}
	for (const void *at = NULL; (pending = mirror_table_next(table, &at));)
		free_entry(pending);
	mirror_table_done(table);
}

struct pending *pending_at(struct mirror_table *table, struct kube_backend *backend,
			   const char *pod_name, const char *role, int index)
{
	struct pending *pending = mirror_table_get(table, pod_name);

	if (pending)
		return pending;
	pending = mem_new(sizeof(*pending));
	pending->backend = backend;
	pending->pod_name = mem_copy_text(pod_name);
	pending->role = mem_copy_text(role);
	pending->index = index;
	mirror_table_put(table, pod_name)->kept = pending;
	return pending;
}

void pending_drop_end(struct pending *pending)
{
	kube_call_cancel(TAKE(pending->end_call));
	request_slot_release(&pending->end_slot);
	free(TAKE(pending->ended_uid));
	pending->is_end_told = false;
	pending->is_end_put_off = pending->end_asks_for_all = false;
	pending->end_refused_at = INSTANT_UNSET;
	pending->is_removed = false;
	pending->end_waits = false;
	kube_exec_cancel(TAKE(pending->term));
	pending->is_held = false;
	pending->tell_at = INSTANT_NEVER;
	pending->was_missed = pending->is_told = pending->is_deaf = false;
}

void pending_drop_start(struct pending *pending)
{
	kube_call_cancel(TAKE(pending->start_call));
	free(TAKE(pending->started_uid));
	free(TAKE(pending->refusal));
	pending->n_refusals = 0;
	pending->asks_for_all = false;
	pending->is_start_told = false;
	pending->is_unwanted = false;
	pending->again_at = INSTANT_UNSET;
	pending->start = PENDING_NO_START;
	request_slot_release(&pending->start_slot);
}

void pending_drop_if_idle(struct mirror_table *table, struct pending *pending)
{
	if (pending->start != PENDING_NO_START || pending->ended_uid)
		return;
	mirror_table_drop(table, pending->pod_name);
	free_entry(pending);
}

bool pending_lay_over(const struct pending *pending, const char *uid,
		      struct observed_replica *replica)
{
	if (!pending || !text_equals(pending->ended_uid, uid))
		return true;
	if (pending->is_removed)
		return false;
	if (replica->stop_asked_at == MSEC_UNSET) {
		replica->stop_asked_at = pending->asked_at;
		replica->kill_at = pending->kill_at;
	}
	/* The server's clock may be ahead. */
	replica->stop_asked_at = msec_min(replica->stop_asked_at, pending->asked_at);
	replica->is_held = pending->is_held;
	replica->kill_at = msec_min(replica->kill_at, pending->kill_at);
	replica->is_killed |= pending->asked_at == pending->kill_at;
	return true;
}

struct observed_replica pending_observe_start(const struct pending *pending, struct arena *arena)
{
	bool is_impossible = pending->start == PENDING_START_IMPOSSIBLE;

	return (struct observed_replica){
		.role = arena_copy_text(arena, pending->role),
		.index = pending->index,
		.attempt = pending->attempt,
		.phase = is_impossible ? OBSERVED_FAILED : OBSERVED_STARTING,
		.exit_code = -1,
		.reason = is_impossible      ? FAILURE_REFUSED
			  : pending->refusal ? pending->refusal_reason
					     : NULL,
		.message = arena_copy_text(arena, pending->refusal),
		.is_reason_from_elsewhere = true, /* there is no Pod yet */
		.stop_asked_at = pending->is_unwanted ? pending->asked_at : MSEC_UNSET,
		.kill_at = pending->is_unwanted ? pending->kill_at : MSEC_UNSET,
		.is_unmade = pending->start == PENDING_START_WAITS ||
			     pending->start == PENDING_START_REFUSED,
		.is_killed = pending->is_unwanted && pending->asked_at == pending->kill_at,
	};
}

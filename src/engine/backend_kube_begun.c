/* What is under way lasts for moments, but a large job begins all at once: entries are found by
 * name. */
#include "engine/backend_kube_begun.h"

#include "base/text.h"
#include "core/failure_words.h"

#include <stdlib.h>

static void free_entry(struct begun *begun)
{
	begun_forget_start(begun);
	begun_forget_end(begun);
	free(begun->pod_name);
	free(begun->role);
	free(begun);
}

void begun_table_done(struct begun_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free_entry(table->entries[i]);
	free(table->entries);
	mirror_table_done(&table->by_name);
	*table = (struct begun_table){0};
}

struct begun *begun_find(const struct begun_table *table, const char *pod_name)
{
	const struct mirror_entry *entry =
		pod_name ? mirror_table_find(&table->by_name, pod_name) : NULL;

	return entry ? entry->kept : NULL;
}

struct begun *begun_at(struct begun_table *table, struct backend *backend, const char *pod_name,
		       const char *role, int index)
{
	struct begun *begun = begun_find(table, pod_name);

	if (begun)
		return begun;
	begun = mem_new(sizeof(*begun));
	begun->backend = backend;
	begun->pod_name = mem_copy_text(pod_name);
	begun->role = mem_copy_text(role);
	begun->index = index;
	mem_grow(&table->entries, &table->capacity, table->count, sizeof(struct begun *));
	begun->place = table->count;
	table->entries[table->count++] = begun;
	mirror_table_put(&table->by_name, pod_name)->kept = begun;
	return begun;
}

void begun_forget_end(struct begun *begun)
{
	kube_call_cancel(TAKE(begun->end_call));
	mem_free_text(&begun->ended_uid);
	begun->ended_uid = NULL;
	begun->is_removed = false;
	begun->end_waits = false;
	kube_exec_cancel(TAKE(begun->term));
	begun->is_held = false;
	begun->is_deaf = false;
}

void begun_forget_start(struct begun *begun)
{
	kube_call_cancel(TAKE(begun->start_call));
	mem_free_text(&begun->started_uid);
	mem_free_text(&begun->refusal);
	begun->started_uid = NULL;
	begun->refusal = NULL;
	begun->n_refusals = 0;
	begun->is_unwanted = false;
	begun->again_at = MSEC_UNSET;
	begun->start = BEGUN_NO_START;
}

void begun_see_start(struct begun *begun)
{
	kube_call_let_go(TAKE(begun->start_call));
	begun_forget_start(begun);
}

void begun_drop_if_idle(struct begun_table *table, struct begun *begun)
{
	if (begun->start != BEGUN_NO_START || begun->ended_uid)
		return;
	mirror_table_remove(&table->by_name, mirror_table_find(&table->by_name, begun->pod_name));
	table->entries[begun->place] = table->entries[--table->count];
	table->entries[begun->place]->place = begun->place;
	free_entry(begun);
}

bool begun_lay_over(const struct begun *begun, const char *uid, struct observed_replica *replica)
{
	if (!begun || !text_equals(begun->ended_uid, uid))
		return true;
	if (begun->is_removed)
		return false;
	if (replica->stop_asked_at == MSEC_UNSET) {
		replica->stop_asked_at = begun->asked_at;
		replica->kill_at = begun->kill_at;
	}
	replica->kill_at = msec_min(replica->kill_at, begun->kill_at);
	replica->is_killed |= begun->asked_at == begun->kill_at;
	return true;
}

struct observed_replica begun_observe_start(const struct begun *begun, struct arena *arena)
{
	bool is_impossible = begun->start == BEGUN_START_IMPOSSIBLE;

	return (struct observed_replica){
		.role = arena_copy_text(arena, begun->role),
		.index = begun->index,
		.attempt = begun->attempt,
		.phase = is_impossible ? OBSERVED_FAILED : OBSERVED_STARTING,
		.exit_code = -1,
		.reason = is_impossible    ? FAILURE_REFUSED
			  : begun->refusal ? begun->refusal_reason
					   : NULL,
		.message = arena_copy_text(arena, begun->refusal),
		.stop_asked_at = begun->is_unwanted ? begun->asked_at : MSEC_UNSET,
		.kill_at = begun->is_unwanted ? begun->kill_at : MSEC_UNSET,
		.is_killed = begun->is_unwanted && begun->asked_at == begun->kill_at,
	};
}

/* Builds a plan: actions, notes and the time of the next decision. */
#include "reconcile/plan.h"

#include <string.h>

const char *const action_type_words[ACTION_TYPE_COUNT] = {
	[ACTION_PUBLISH] = "publish", [ACTION_START] = "start",   [ACTION_STOP] = "stop",
	[ACTION_KILL] = "kill",       [ACTION_REMOVE] = "remove", [ACTION_UNPUBLISH] = "unpublish",
};

/* Returns an array with room for one more element: it doubles whenever its count is a power of
 * two. */
static void *array_with_room(struct arena *arena, void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	void *larger = arena_take_array(arena, count ? 2 * count : 1, size);

	if (count)
		memcpy(larger, array, count * size);
	return larger;
}

void plan_add_action(struct plan *plan, struct arena *arena, const struct action *action)
{
	plan->actions =
		array_with_room(arena, plan->actions, plan->n_actions, sizeof(*plan->actions));
	plan->actions[plan->n_actions++] = *action;
}

void plan_add_note(struct plan *plan, struct arena *arena, enum note_level level,
		   const char *reason, const char *sentence)
{
	plan->notes = array_with_room(arena, plan->notes, plan->n_notes, sizeof(*plan->notes));
	plan->notes[plan->n_notes++] =
		(struct note){.level = level, .reason = reason, .sentence = sentence};
}

void plan_wake_at(struct plan *plan, msec at)
{
	plan->wake_at = msec_min(plan->wake_at, at);
}

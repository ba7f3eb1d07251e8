/* Building a plan. */
#include "unit.h"

#include "reconcile/plan.h"

TEST(actions_keep_their_order_while_they_grow)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct plan plan = {0};

	for (int index = 0; index < 1000; index++)
		plan_add_action(&plan, arena,
				&(struct action){.type = ACTION_START, .index = index});
	assert_int_equal(plan.n_actions, 1000);
	for (int index = 0; index < 1000; index++)
		assert_int_equal(plan.actions[index].index, index);
}

TEST(notes_keep_their_order)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct plan plan = {0};

	plan_add_note(&plan, arena, NOTE_NORMAL, "One", "first");
	plan_add_note(&plan, arena, NOTE_WARNING, "Two", "second");
	assert_int_equal(plan.n_notes, 2);
	assert_string_equal(plan.notes[0].sentence, "first");
	assert_int_equal(plan.notes[1].level, NOTE_WARNING);
}

TEST(the_earliest_moment_wakes)
{
	struct plan plan = {.wake_at = MSEC_NEVER};

	plan_wake_at(&plan, 300);
	plan_wake_at(&plan, 100);
	plan_wake_at(&plan, 200);
	assert_int_equal(plan.wake_at, 100);
}

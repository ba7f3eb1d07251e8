/* Whose slot it is to make a call. */
#include "unit.h"

#include "kube/request_limiter.h"

#define COUNT 24
#define MOST 16 /* changes at once */
#define STREAMS 40
#define MOST_STREAMS 32 /* at once, without changes */

struct scene {
	struct request_limiter limiter;
	struct request_slot changes[COUNT], streams[STREAMS];
	int n_called, last_called;
};

static struct scene scene;

static int set_up(void **state)
{
	(void) state;
	scene = (struct scene){.last_called = -1};
	return 0;
}

static void on_change(void *data)
{
	const struct request_slot *slot = data;

	scene.n_called++;
	scene.last_called = (int) (slot - scene.changes);
}

static void on_stream(void *data)
{
	const struct request_slot *slot = data;

	scene.n_called++;
	scene.last_called = (int) (slot - scene.streams);
}

static void end_at_once(void *data)
{
	scene.n_called++;
	request_slot_release(data);
}

static bool change(int i)
{
	return request_slot_acquire(&scene.changes[i], &scene.limiter, REQUEST_CHANGE, "ada",
				    on_change, &scene.changes[i]);
}

static bool stream(int i)
{
	return request_slot_acquire(&scene.streams[i], &scene.limiter, REQUEST_STREAM, "ada",
				    on_stream, &scene.streams[i]);
}

TEST_WITH(set_up, NULL, so_many_at_once_and_the_others_in_their_order)
{
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(change(i), i < MOST);
	request_slot_release(&scene.changes[5]);
	assert_int_equal(scene.last_called, MOST);
	request_slot_release(
		&scene.changes[MOST + 2]); /* it was waiting: nobody has its slot for that */
	assert_int_equal(scene.n_called, 1);
	request_slot_release(&scene.changes[6]);
	assert_int_equal(scene.last_called, MOST + 1);
	request_slot_release(&scene.changes[7]);
	assert_int_equal(scene.last_called, MOST + 3);
}

TEST_WITH(set_up, NULL, what_has_its_turn_keeps_it)
{
	assert_true(change(0));
	assert_true(change(0));
	assert_int_equal(scene.limiter.lines[REQUEST_CHANGE].n_taken, 1);
	request_slot_release(&scene.changes[0]);
	request_slot_release(&scene.changes[0]);
	assert_int_equal(scene.limiter.lines[REQUEST_CHANGE].n_taken, 0);
}

TEST_WITH(set_up, NULL, few_streams_are_opened_beside_changes)
{
	assert_true(change(0));
	for (int i = 0; i < STREAMS; i++)
		assert_int_equal(stream(i), i < 2);
	request_slot_release(&scene.streams[0]);
	assert_int_equal(scene.last_called, 2);
	request_slot_release(&scene.changes[0]); /* all that may be open at once are */
	assert_int_equal(scene.limiter.lines[REQUEST_STREAM].n_taken, MOST_STREAMS);
	assert_int_equal(scene.n_called, 1 + MOST_STREAMS - 2);
}

TEST_WITH(set_up, NULL, while_changes_wait_a_stream_comes_after_so_many)
{
	for (int i = 0; i < COUNT; i++)
		(void) change(i);
	assert_true(stream(0)); /* many changes went before it */
	assert_false(stream(1));
	for (int i = 0; i < COUNT - MOST - 1; i++) {
		request_slot_release(&scene.changes[i]);
		assert_int_equal(scene.last_called, MOST + i);
	}
	assert_false(scene.streams[1].is_taken);
	request_slot_release(&scene.changes[MOST]); /* the last that waited comes, the eighth */
	assert_int_equal(scene.last_called, 1);
	assert_true(scene.streams[1].is_taken);
}

static bool event(int i)
{
	return request_slot_acquire(&scene.streams[i], &scene.limiter, REQUEST_EVENT, "ada",
				    on_stream, &scene.streams[i]);
}

TEST_WITH(set_up, NULL, events_wait_for_changes_as_streams_do)
{
	for (int i = 0; i < 10; i++)
		assert_int_equal(event(i), i < 8);
	for (int i = 0; i < 8; i++)
		request_slot_release(&scene.streams[i]);
	for (int i = 0; i < COUNT; i++)
		(void) change(i);
	assert_false(event(10)); /* two are under way */
	request_slot_release(&scene.streams[8]);
	assert_int_equal(scene.last_called, 10); /* 16 changes went before it */
	request_slot_release(&scene.streams[9]);
	assert_false(event(11)); /* eight changes more have to */
	for (int i = 0; i < COUNT - MOST; i++)
		request_slot_release(&scene.changes[i]);
	assert_int_equal(scene.last_called, 11);
}

TEST_WITH(set_up, NULL, a_turn_may_end_when_it_comes)
{
	for (int i = 0; i < MOST; i++)
		assert_true(change(i));
	for (int i = MOST; i < COUNT; i++)
		assert_false(request_slot_acquire(&scene.changes[i], &scene.limiter, REQUEST_CHANGE,
						  "ada", end_at_once, &scene.changes[i]));
	request_slot_release(&scene.changes[0]);
	assert_int_equal(scene.n_called, COUNT - MOST);
	assert_int_equal(scene.limiter.lines[REQUEST_CHANGE].n_taken, MOST - 1);
}

TEST_WITH(set_up, NULL, the_last_in_line_may_leave_it)
{
	for (int i = 0; i < MOST + 2; i++)
		(void) change(i);
	request_slot_release(&scene.changes[MOST + 1]);
	assert_false(change(MOST + 2));
	request_slot_release(&scene.changes[0]);
	request_slot_release(&scene.changes[1]);
	assert_int_equal(scene.last_called, MOST + 2);
}

static bool change_of(const char *tenant, int i)
{
	return request_slot_acquire(&scene.changes[i], &scene.limiter, REQUEST_CHANGE, tenant,
				    on_change, &scene.changes[i]);
}

TEST_WITH(set_up, NULL, who_has_all_that_it_may_leaves_some_to_others)
{
	for (int i = 0; i < MOST + 2; i++)
		assert_int_equal(change_of("ada", i), i < MOST);
	assert_true(change_of("bob", MOST + 2));
	request_slot_release(&scene.changes[MOST + 2]);
	assert_int_equal(scene.n_called, 0); /* what it leaves is not for those that have most */
	for (int tries = 0; tries < 100; tries++) {
		assert_true(change_of("bob", MOST + 2));
		request_slot_release(&scene.changes[MOST + 2]);
	}
}

TEST_WITH(set_up, NULL, what_ends_of_several_that_hang_goes_to_others)
{
	static struct request_slot hanging[2 * MOST];
	struct request_slot third = {0};

	memset(hanging, 0, sizeof(hanging));
	for (size_t i = 0; i < 2 * MOST; i++)
		(void) request_slot_acquire(&hanging[i], &scene.limiter, REQUEST_CHANGE,
					    i < MOST ? "ada" : "bob", on_stream, &hanging[i]);
	assert_false(request_slot_acquire(&third, &scene.limiter, REQUEST_CHANGE, "eve", on_stream,
					  &third));
	request_slot_release(&hanging[0]); /* ada has 15 still, and bob only 2 */
	assert_true(hanging[MOST + 2].is_taken);
	request_slot_release(&hanging[1]);
	assert_true(third.is_taken);
}

TEST_WITH(set_up, NULL, tenants_come_one_after_another)
{
	for (int i = 0; i < COUNT - 2; i++)
		assert_int_equal(change_of(i % 2 == 0 ? "ada" : "bob", i), i < MOST + 1);
	request_slot_release(&scene.changes[0]);
	assert_int_equal(scene.last_called, MOST + 2);
	request_slot_release(&scene.changes[2]); /* one of the same tenant */
	assert_int_equal(scene.last_called, MOST + 1);
	request_slot_release(&scene.changes[4]);
	assert_int_equal(scene.last_called, MOST + 4);
}

TEST_WITH(set_up, NULL, an_event_does_not_wait_for_changes_of_another_tenant)
{
	for (int i = 0; i < COUNT; i++)
		(void) change_of("bob", i);
	assert_true(event(0)); /* 16 changes went before it */
	assert_true(event(1));
	request_slot_release(&scene.streams[0]);
	request_slot_release(&scene.streams[1]);
	assert_true(event(2));
	assert_true(event(3));
	assert_false(event(4)); /* two are under way beside changes */
}

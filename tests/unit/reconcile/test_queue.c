/* Keys, due times, flights, pauses after failures and turns of tenants, in virtual time. */
#include "unit.h"

#include "base/mem.h"
#include "reconcile/queue.h"

#include <stdio.h>

#define FIRST ((msec) 5)
#define LONGEST ((msec) 1000)
#define START ((msec) 1000000)
#define MOST 1000

static int set_up(void **state)
{
	*state = queue_new(FIRST, LONGEST, MOST);
	return 0;
}

static int tear_down(void **state)
{
	queue_free(*state);
	return 0;
}

static void assert_take(struct queue *queue, msec now, const char *key)
{
	const char *taken = queue_take(queue, moment(now));

	if (key) {
		assert_non_null(taken);
		assert_string_equal(taken, key);
	} else {
		assert_null(taken);
	}
}

static void take_and_end(struct queue *queue, msec now, const char *key)
{
	assert_take(queue, now, key);
	queue_done(queue, key, false, moment(now));
}

#define QUEUE_TEST(name) TEST_IN(set_up, tear_down, struct queue *queue, name)

QUEUE_TEST(what_is_due_is_taken_in_order)
{
	assert_int_equal(queue_wake_at(queue).since_boot, MSEC_NEVER);
	queue_add(queue, "a", "late", moment(START + 20), false);
	queue_add(queue, "a", "first", moment(START), false);
	queue_add(queue, "a", "second", moment(START), false);
	queue_add(queue, "a", "soon", moment(START + 10), false);
	assert_int_equal(queue_wake_at(queue).since_boot, START);
	assert_int_equal(queue_depth(queue, moment(START)),
			 2); /* what is due later is not behind */
	assert_take(queue, START - 1, NULL);
	take_and_end(queue, START, "first");
	take_and_end(queue, START, "second");
	assert_take(queue, START, NULL);
	assert_int_equal(queue_wake_at(queue).since_boot, START + 10);
	take_and_end(queue, START + 30, "soon");
	take_and_end(queue, START + 30, "late");
	assert_int_equal(queue_depth(queue, moment(MSEC_NEVER - 1)), 0);
}

QUEUE_TEST(a_key_waits_once_and_until_the_earliest_time)
{
	queue_add(queue, "a", "k", moment(START + 10), false);
	queue_add(queue, "a", "k", moment(START + 20), false);
	assert_int_equal(queue_wake_at(queue).since_boot, START + 10);
	queue_add(queue, "a", "k", moment(START + 5), false);
	assert_int_equal(queue_wake_at(queue).since_boot, START + 5);
	take_and_end(queue, START + 30, "k");
	assert_take(queue, START + 30, NULL);
}

QUEUE_TEST(what_waits_behind_goes_last_and_of_four_turns_has_one)
{
	for (char key[] = "0"; key[0] < '4'; key[0]++)
		queue_add(queue, "a", key, moment(START), true);
	for (char key[] = "a"; key[0] < 'g'; key[0]++)
		queue_add(queue, "a", key, moment(START + 1), false);
	take_and_end(queue, START, "0"); /* the others are not due */
	for (const char *keys = "ab1cde2f3"; *keys; keys++)
		take_and_end(queue, START + 1, (char[]){*keys, '\0'});
	assert_int_equal(queue_depth(queue, moment(MSEC_NEVER - 1)), 0);
	queue_add(queue, "a", "k", moment(START + 7), true);
	assert_int_equal(queue_wake_at(queue).since_boot, START + 7);
	queue_add(queue, "a", "l", moment(START + 9), false);
	assert_int_equal(queue_wake_at(queue).since_boot, START + 7);
}

QUEUE_TEST(what_waits_behind_does_so_no_more_when_it_is_added_as_others_are)
{
	queue_add(queue, "a", "k", moment(START), true);
	queue_add(queue, "a", "l", moment(START), true);
	queue_add(queue, "a", "m", moment(START), false);
	queue_add(queue, "a", "l", moment(START + 5), false); /* it keeps its time */
	queue_add(queue, "a", "m", moment(START + 1), true);
	take_and_end(queue, START, "l");
	take_and_end(queue, START, "m");
	queue_add(queue, "a", "n", moment(START), false);
	assert_take(queue, START, "n");
	queue_add(queue, "a", "n", moment(START), true); /* while it is in flight */
	queue_add(queue, "a", "o", moment(START + 1), false);
	queue_done(queue, "n", false, moment(START));
	take_and_end(queue, START, "k");
	take_and_end(queue, START + 1, "o");
	take_and_end(queue, START + 1, "n");
	queue_add(queue, "a", "p", moment(START), true);
	queue_remove(queue, "p");
	assert_take(queue, START, NULL);
	assert_int_equal(queue_depth(queue, moment(MSEC_NEVER - 1)), 0);
}

QUEUE_TEST(what_comes_in_flight_is_kept_until_it_is_done)
{
	queue_add(queue, "a", "k", moment(START), false);
	assert_take(queue, START, "k");
	queue_add(queue, "a", "k", moment(START), false);
	assert_take(queue, START, NULL);
	assert_int_equal(queue_wake_at(queue).since_boot, MSEC_NEVER);
	queue_done(queue, "k", false, moment(START));
	take_and_end(queue, START, "k");
	assert_int_equal(queue_depth(queue, moment(MSEC_NEVER - 1)), 0);
}

TEST_WITH(set_up, tear_down, what_fails_pauses_for_longer_and_longer)
{
	static const msec pauses[] = {5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000};
	struct queue *queue = *state;
	msec now = START;

	queue_add(queue, "a", "k", moment(now), false);
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		assert_take(queue, now, "k");
		queue_done(queue, "k", true, moment(now));
		assert_int_equal(queue_wake_at(queue).since_boot, now + pauses[i]);
		now += pauses[i];
	}
	take_and_end(queue, now, "k");
	queue_add(queue, "a", "k", moment(now), false);
	assert_take(queue, now, "k");
	queue_done(queue, "k", true, moment(now));
	assert_int_equal(queue_wake_at(queue).since_boot, now + FIRST);
}

QUEUE_TEST(an_event_ends_a_pause)
{
	queue_add(queue, "a", "k", moment(START), false);
	assert_take(queue, START, "k");
	queue_done(queue, "k", true, moment(START));
	queue_add(queue, "a", "k", moment(START + 1), false);
	assert_take(queue, START + 1, "k");
	queue_add(queue, "a", "k", moment(START + 2), false);
	queue_done(queue, "k", true, moment(START + 2));
	assert_take(queue, START + 2, "k");
	queue_done(queue, "k", true, moment(START + 2));
	assert_int_equal(queue_wake_at(queue).since_boot,
			 START + 2 + 4 * FIRST); /* the third in a row */
}

QUEUE_TEST(tenants_have_equal_turns)
{
	int taken[2] = {0};

	for (int i = 0; i < 100; i++) {
		char *key CLEANUP(mem_free_text) = mem_format("many-%d", i);

		queue_add(queue, "many", key, moment(START), false);
	}
	for (int i = 0; i < 5; i++) {
		char *key CLEANUP(mem_free_text) = mem_format("few-%d", i);

		queue_add(queue, "few", key, moment(START + 1), false);
	}
	for (int i = 0; i < 10; i++) {
		const char *key = queue_take(queue, moment(START + 1));

		taken[key[0] == 'f']++;
		queue_done(queue, key, false, moment(START + 1));
	}
	assert_int_equal(taken[0], 5);
	assert_int_equal(taken[1], 5);
	assert_string_equal(queue_take(queue, moment(START + 1)), "many-5");
}

QUEUE_TEST(a_tenant_that_has_nothing_due_costs_the_others_no_turn)
{
	queue_add(queue, "sleeper", "z", moment(START + 100), false);
	queue_add(queue, "a", "a-0", moment(START), false);
	queue_add(queue, "a", "a-1", moment(START), false);
	queue_add(queue, "b", "b-0", moment(START), false);
	queue_add(queue, "b", "b-1", moment(START), false);
	take_and_end(queue, START, "a-0");
	take_and_end(queue, START, "b-0");
	take_and_end(queue, START, "a-1");
	take_and_end(queue, START, "b-1");
	assert_int_equal(queue_wake_at(queue).since_boot, START + 100);
}

static void add_many(struct queue *queue, const char *tenant, int count)
{
	for (int i = 0; i < count; i++) {
		char *key CLEANUP(mem_free_text) = mem_format("%s/%d", tenant, i);

		queue_add(queue, tenant, key, moment(START), false);
	}
}

static size_t take_all(struct queue *queue, const char *keys[])
{
	size_t count = 0;

	while ((keys[count] = queue_take(queue, moment(START))))
		count++;
	return count;
}

TEST(a_tenant_whose_flights_do_not_end_leaves_some_to_others)
{
	struct queue *queue = queue_new(FIRST, LONGEST, 18);
	const char *keys[21];

	add_many(queue, "hangs", 20);
	assert_int_equal(take_all(queue, keys), 16);
	assert_int_equal(queue_wake_at(queue).since_boot, MSEC_NEVER);
	add_many(queue, "other", 20);
	assert_int_equal(queue_wake_at(queue).since_boot, START);
	assert_int_equal(take_all(queue, keys), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(strncmp(keys[i], "other", 5), 0);
		queue_done(queue, keys[i], false, moment(START));
	}
	assert_int_equal(take_all(queue, keys), 2);
	assert_int_equal(queue_depth(queue, moment(START)), 38);
	queue_free(queue);
}

QUEUE_TEST(what_is_removed_does_not_come_back)
{
	queue_add(queue, "a", "waits", moment(START), false);
	queue_remove(queue, "waits");
	queue_remove(queue, "unknown");
	assert_take(queue, START, NULL);
	queue_add(queue, "a", "flies", moment(START), false);
	assert_take(queue, START, "flies");
	queue_add(queue, "a", "flies", moment(START), false);
	queue_remove(queue, "flies");
	queue_done(queue, "flies", true, moment(START));
	assert_int_equal(queue_depth(queue, moment(MSEC_NEVER - 1)), 0);
}

QUEUE_TEST(what_was_removed_may_be_added_again_before_its_flight_ends)
{
	queue_add(queue, "a", "k", moment(START), false);
	assert_take(queue, START, "k");
	queue_remove(queue, "k");
	queue_add(queue, "a", "k", moment(START + 3), false);
	queue_done(queue, "k", false, moment(START));
	assert_int_equal(queue_wake_at(queue).since_boot, START + 3);
	take_and_end(queue, START + 3, "k");
}

/* A random world, beside a list in which everything is looked for one by one. */

#define KEYS 40
#define TENANTS 5
#define STEPS 200000

struct model {
	msec due[KEYS]; /* MSEC_NEVER: not due */
	bool is_in_flight[KEYS];
	bool is_removed[KEYS];
	bool is_behind[KEYS];
	int n_failures[KEYS];
};

static uint32_t random_below(uint64_t *seed, uint32_t bound)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t) (*seed >> 33) % bound;
}

static void name_key(int number, char name[8])
{
	snprintf(name, 8, "k%d", number);
}

static msec model_wake_at(const struct model *model)
{
	msec wake_at = MSEC_NEVER;

	for (int i = 0; i < KEYS; i++)
		if (!model->is_in_flight[i])
			wake_at = msec_min(wake_at, model->due[i]);
	return wake_at;
}

static void model_take(struct model *model, struct queue *queue, msec now)
{
	const char *key = queue_take(queue, moment(now));

	if (!key) {
		assert_true(model_wake_at(model) > now);
		return;
	}
	int number = atoi(key + 1);

	assert_false(model->is_in_flight[number]);
	assert_true(model->due[number] <= now);
	for (int i = number % TENANTS; i < KEYS; i += TENANTS) /* of its like the earliest */
		assert_true(model->is_in_flight[i] || model->due[i] >= model->due[number] ||
			    model->is_behind[i] != model->is_behind[number]);
	model->is_in_flight[number] = true;
	model->is_removed[number] = false;
	model->due[number] = MSEC_NEVER;
}

static void model_end(struct model *model, struct queue *queue, int number, bool has_failed,
		      msec now)
{
	msec pause = FIRST;
	char key[8];

	if (!model->is_in_flight[number])
		return;
	name_key(number, key);
	queue_done(queue, key, has_failed, moment(now));
	model->is_in_flight[number] = false;
	model->n_failures[number] = has_failed ? model->n_failures[number] + 1 : 0;
	for (int i = 1; i < model->n_failures[number]; i++)
		pause = msec_min(pause * 2, LONGEST);
	if (has_failed && !model->is_removed[number])
		model->due[number] = msec_min(model->due[number], now + pause);
	if (model->due[number] == MSEC_NEVER)
		model->n_failures[number] = 0; /* it is not known any more */
}

static void model_add(struct model *model, struct queue *queue, int number, msec due,
		      bool is_behind)
{
	char key[8], tenant[8];

	name_key(number, key);
	name_key(number % TENANTS, tenant);
	queue_add(queue, tenant, key, moment(due), is_behind);
	model->is_behind[number] =
		is_behind && (model->due[number] == MSEC_NEVER || model->is_behind[number]);
	model->is_removed[number] = false;
	model->due[number] = msec_min(model->due[number], due);
}

static void model_remove(struct model *model, struct queue *queue, int number)
{
	char key[8];

	name_key(number, key);
	queue_remove(queue, key);
	model->due[number] = MSEC_NEVER;
	model->is_removed[number] = model->is_in_flight[number];
	if (!model->is_in_flight[number])
		model->n_failures[number] = 0;
}

QUEUE_TEST(a_random_world_agrees_with_a_plain_list)
{
	struct model model = {0};
	uint64_t seed = 1;
	msec now = START;

	for (int i = 0; i < KEYS; i++)
		model.due[i] = MSEC_NEVER;
	for (int step = 0; step < STEPS; step++) {
		int number = (int) random_below(&seed, KEYS);
		uint32_t what = random_below(&seed, 100);

		if (what < 40)
			model_take(&model, queue, now);
		else if (what < 70)
			model_end(&model, queue, number, what < 50, now);
		else if (what < 90)
			model_add(&model, queue, number, now + random_below(&seed, 50), what < 76);
		else if (what < 93)
			model_remove(&model, queue, number);
		else
			now += random_below(&seed, 10);
		assert_int_equal(queue_wake_at(queue).since_boot, model_wake_at(&model));
	}
}

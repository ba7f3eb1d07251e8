/* Who may claim GPUs: a queue in which small jobs pass large ones, and none starves. */
#include "unit.h"

#include "base/text.h"
#include "local/queue.h"

#define ALL UINT64_MAX

/* The waiters that start now, in order, when these GPUs are free. */
static void assert_admitted(const struct claim_waiter *list, size_t count, uint64_t free,
			    const char *expected)
{
	const struct claim_queue queue = {(struct claim_waiter *) list, count};
	struct text admitted CLEANUP(text_done) = {0};
	bool is_ahead[8];

	for (size_t i = 0; i < count; i++)
		if (queue_admits(&queue, list[i].owner_uid, free, is_ahead))
			text_add(&admitted, list[i].owner_uid);
	assert_string_equal(text_of(&admitted), expected);
}

static void the_first_comers_are_served_first(void **state)
{
	const struct claim_waiter list[] = {
		{"a", .count = 1, .usable = ALL},
		{"b", .count = 2, .usable = ALL},
		{"c", .count = 1, .usable = ALL},
	};

	(void) state;
	assert_admitted(list, 3, 0, "");
	assert_admitted(list, 3, 0x4, "a");
	assert_admitted(list, 3, 0x7, "ab");
	assert_admitted(list, 3, 0xf, "abc");
}

static void a_small_one_passes_a_large_one_until_that_was_passed_often(void **state)
{
	struct claim_waiter list[] = {
		{"a", .count = 3, .usable = ALL, .n_passed = QUEUE_PASSES - 1},
		{"b", .count = 1, .usable = ALL},
		{"c", .count = 2, .usable = ALL},
	};

	(void) state;
	assert_admitted(list, 3, 0x3, "b");
	list[0].n_passed = QUEUE_PASSES;
	assert_admitted(list, 3, 0x3, "");
	assert_admitted(list, 3, 0x7, "a");
	assert_admitted(list, 3, 0xf, "ab");
}

static void gpus_that_one_cannot_use_are_not_kept_for_it(void **state)
{
	const struct claim_waiter list[] = {
		{"a", .count = 2, .usable = 0x3, .n_passed = QUEUE_PASSES},
		{"b", .count = 1, .usable = 0xc},
		{"c", .count = 1, .usable = 0x1},
	};

	(void) state;
	assert_admitted(list, 3, 0x5, "b");
	assert_admitted(list, 3, 0x7, "ab");
}

static void one_that_has_left_the_queue_is_not_admitted(void **state)
{
	const struct claim_queue queue = {NULL, 0};

	(void) state;
	assert_false(queue_admits(&queue, "a", ALL, NULL));
}

/* Whatever the queue: those that are admitted together have enough GPUs. */
static void the_admitted_never_need_more_than_there_are(void **state)
{
	unsigned random = 1;

	(void) state;
	for (int round = 0; round < 20000; round++) {
		struct claim_waiter list[6];
		char uids[6][2];
		const struct claim_queue queue = {list, 6};
		size_t n_needed = 0;
		bool is_ahead[6];

		for (size_t i = 0; i < 6; i++) {
			random = random * 1103515245 + 12345;
			uids[i][0] = (char) ('a' + i);
			uids[i][1] = '\0';
			list[i] = (struct claim_waiter){uids[i], NULL, 1 + (random >> 16) % 4, 0xff,
							(int) (random >> 20) % 16};
		}
		for (size_t i = 0; i < 6; i++)
			if (queue_admits(&queue, uids[i], 0x2d, is_ahead))
				n_needed += list[i].count;
		assert_in_range(n_needed, 0, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_comers_are_served_first),
		cmocka_unit_test(a_small_one_passes_a_large_one_until_that_was_passed_often),
		cmocka_unit_test(gpus_that_one_cannot_use_are_not_kept_for_it),
		cmocka_unit_test(one_that_has_left_the_queue_is_not_admitted),
		cmocka_unit_test(the_admitted_never_need_more_than_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

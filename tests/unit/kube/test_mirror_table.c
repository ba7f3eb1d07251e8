#include "unit.h"

#include "kube/mirror_table.h"

#include <stdio.h>

#define N_NAMES 500

static void name_it(char name[16], int number)
{
	snprintf(name, 16, "pod-%d", number);
}

/* What is there is what the array says. */
static void assert_holds(const struct mirror_table *table, const bool *is_there)
{
	size_t count = 0, walked = 0;
	const void *place = NULL;

	for (int i = 0; i < N_NAMES; i++) {
		char name[16];

		name_it(name, i);
		assert_ptr_equal(mirror_table_get(table, name), is_there[i] ? &is_there[i] : NULL);
		count += is_there[i];
	}
	while (mirror_table_next(table, &place))
		walked++;
	assert_int_equal(table->count, count);
	assert_int_equal(walked, count);
}

TEST(every_name_is_found_whatever_was_put_and_removed_before)
{
	struct mirror_table table = {0};
	bool is_there[N_NAMES] = {false};
	unsigned number = 12345;

	assert_null(mirror_table_get(&table, "pod-1"));
	for (int step = 0; step < 20000; step++) {
		char name[16];

		number = number * 1103515245 + 12345;
		int i = (int) (number >> 8) % N_NAMES;

		name_it(name, i);
		if (number & 128)
			mirror_table_put(&table, name)->kept = &is_there[i];
		else
			mirror_table_drop(&table, name);
		is_there[i] = number & 128;
		if (step % 500 == 0)
			assert_holds(&table, is_there);
	}
	assert_holds(&table, is_there);
	mirror_table_done(&table);
}

TEST(what_is_put_twice_is_there_once)
{
	struct mirror_table table = {0};
	int kept = 0;

	mirror_table_put(&table, "a")->kept = &kept;
	assert_ptr_equal(mirror_table_put(&table, "a")->kept, &kept);
	assert_int_equal(table.count, 1);
	mirror_table_done(&table);
}
